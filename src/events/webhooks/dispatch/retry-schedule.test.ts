import { expect, test } from 'bun:test'
import { hourMs, minuteMs } from '../../../base/clock.ts'
import { readRetryAfter, webhookRetryWaitMs } from './retry-schedule.ts'

test('waits 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, and gives up after the tenth attempt', () => {
  const waits = Array.from({ length: 10 }, (_, i) => webhookRetryWaitMs(i + 1, null, 0.5))
  expect(waits).toEqual([
    5000,
    5 * minuteMs,
    30 * minuteMs,
    2 * hourMs,
    5 * hourMs,
    10 * hourMs,
    14 * hourMs,
    20 * hourMs,
    24 * hourMs,
    null,
  ])
})

test('varies by a tenth to both sides', () => {
  expect(webhookRetryWaitMs(1, null, 0)).toBe(4500)
  expect(webhookRetryWaitMs(1, null, 1)).toBe(5500)
})

test('waits as long as the receiver asks for, up to an hour, and never shorter than the schedule', () => {
  expect(webhookRetryWaitMs(1, 60_000, 0.5)).toBe(60_000)
  expect(webhookRetryWaitMs(1, 7 * hourMs, 0.5)).toBe(hourMs)
  expect(webhookRetryWaitMs(2, 1000, 0.5)).toBe(5 * minuteMs)
  expect(webhookRetryWaitMs(10, 1000, 0.5)).toBeNull()
})

test('reads Retry-After in both forms', () => {
  const now = Date.parse('2026-01-31T08:15:00Z')
  expect(readRetryAfter('120', now)).toBe(120_000)
  expect(readRetryAfter('Sat, 31 Jan 2026 08:16:00 GMT', now)).toBe(60_000)
  expect(readRetryAfter('Sat, 31 Jan 2026 08:14:00 GMT', now)).toBe(0)
  expect(readRetryAfter('soon', now)).toBeNull()
  expect(readRetryAfter(null, now)).toBeNull()
})
