import { expect, test } from 'bun:test'
import { newWakeup } from './wakeup.ts'

test('wakes the waiter, and keeps a notification that nobody waits for', async () => {
  const wakeup = newWakeup()
  const waiting = wakeup.wait(60_000)
  wakeup.notify()
  await waiting
  wakeup.notify()
  wakeup.notify()
  await wakeup.wait(60_000)
})

test('stops waiting after the given time', async () => {
  const started = performance.now()
  await newWakeup().wait(20)
  expect(performance.now() - started).toBeGreaterThanOrEqual(19)
})
