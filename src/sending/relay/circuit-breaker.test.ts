import { expect, test } from 'bun:test'
import { newBreaker } from './circuit-breaker.ts'

function openAt(nowMs: number) {
  const breaker = newBreaker()
  const alarms = Array.from({ length: 5 }, () => {
    breaker.begin()
    return breaker.troubled(nowMs)
  })
  return { breaker, alarms }
}

test('five troubles in a row hold back, and alarm once', () => {
  const { breaker, alarms } = openAt(0)
  expect(alarms).toEqual([false, false, false, false, true])
  expect(breaker.heldUntil()).toBe(1000)
  expect(breaker.mayTry(999)).toBe(false)
  // What was under way.
  expect(breaker.troubled(10)).toBe(false)
  expect(breaker.heldUntil()).toBe(1000)
})

test('one that gets through between them begins the count again', () => {
  const breaker = newBreaker()
  for (let i = 0; i < 4; i++) breaker.troubled(0)
  breaker.succeeded()
  for (let i = 0; i < 4; i++) breaker.troubled(0)
  expect(breaker.heldUntil()).toBeUndefined()
})

test('one probe at a time, after waits that grow to five minutes', () => {
  const { breaker } = openAt(0)
  const waits: number[] = []
  for (let i = 0, now = breaker.heldUntil() ?? 0; i < 12; i++) {
    expect(breaker.mayTry(now)).toBe(true)
    breaker.begin()
    expect(breaker.mayTry(now)).toBe(false)
    expect(breaker.troubled(now)).toBe(false)
    const until = breaker.heldUntil() ?? 0
    waits.push((until - now) / 1000)
    now = until
  }
  expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300])
})

test('a probe that told nothing leaves the way to another', () => {
  const { breaker } = openAt(0)
  breaker.begin()
  breaker.toldNothing()
  expect(breaker.mayTry(1000)).toBe(true)
})

test('a probe that gets through ends it', () => {
  const { breaker } = openAt(0)
  breaker.begin()
  expect(breaker.succeeded()).toBe(true)
  expect(breaker.heldUntil()).toBeUndefined()
  expect(breaker.mayTry(0)).toBe(true)
  expect(breaker.succeeded()).toBe(false)
})
