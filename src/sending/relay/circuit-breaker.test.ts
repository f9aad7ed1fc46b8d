import { expect, test } from 'bun:test'
import { CircuitBreaker } from './circuit-breaker.ts'

function openAt(nowMs: number) {
  const breaker = new CircuitBreaker()
  const alarms = Array.from({ length: 5 }, () => {
    breaker.beginAttempt()
    return breaker.recordFailure(nowMs)
  })
  return { breaker, alarms }
}

test('five failures in a row open it, and alarm once', () => {
  const { breaker, alarms } = openAt(0)
  expect(alarms).toEqual([false, false, false, false, true])
  expect(breaker.openUntil()).toBe(1000)
  expect(breaker.allowsAttempt(999)).toBe(false)
  // What was under way.
  expect(breaker.recordFailure(10)).toBe(false)
  expect(breaker.openUntil()).toBe(1000)
})

test('a success between them resets the count', () => {
  const breaker = new CircuitBreaker()
  for (let i = 0; i < 4; i++) breaker.recordFailure(0)
  breaker.recordSuccess()
  for (let i = 0; i < 4; i++) breaker.recordFailure(0)
  expect(breaker.openUntil()).toBeUndefined()
})

test('one probe at a time, after waits that grow to five minutes', () => {
  const { breaker } = openAt(0)
  const waits: number[] = []
  for (let i = 0, now = breaker.openUntil() ?? 0; i < 12; i++) {
    expect(breaker.allowsAttempt(now)).toBe(true)
    breaker.beginAttempt()
    expect(breaker.allowsAttempt(now)).toBe(false)
    expect(breaker.recordFailure(now)).toBe(false)
    const until = breaker.openUntil() ?? 0
    waits.push((until - now) / 1000)
    now = until
  }
  expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300])
})

test('a probe without a result allows another', () => {
  const { breaker } = openAt(0)
  breaker.beginAttempt()
  breaker.recordNoResult()
  expect(breaker.allowsAttempt(1000)).toBe(true)
})

test('a probe that succeeds closes it', () => {
  const { breaker } = openAt(0)
  breaker.beginAttempt()
  expect(breaker.recordSuccess()).toBe(true)
  expect(breaker.openUntil()).toBeUndefined()
  expect(breaker.allowsAttempt(0)).toBe(true)
  expect(breaker.recordSuccess()).toBe(false)
})
