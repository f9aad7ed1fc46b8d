import { expect, test } from 'bun:test'
import { fromIso } from '../../base/clock.ts'
import { nextAttemptAt, retryWaitMs } from './retry.ts'

const policy = (random: number) => ({ firstMs: 60_000, random: () => random })

test('the wait doubles up to four hours', () => {
  expect([1, 2, 3, 8, 9, 20, 1000].map(attempts => retryWaitMs(attempts, policy(0.5)) / 60_000)).toEqual([
    1, 2, 4, 128, 240, 240, 240,
  ])
})

test('it varies by a fifth to either side and never exceeds four hours', () => {
  expect(retryWaitMs(1, policy(0))).toBe(48_000)
  expect(retryWaitMs(1, policy(1))).toBeCloseTo(72_000, 6)
  expect(retryWaitMs(50, policy(1))).toBe(4 * 60 * 60 * 1000)
})

test('the last attempt is due when the email expires', () => {
  const now = fromIso('2026-01-01T00:00:00Z')
  const soon = fromIso('2026-01-01T00:00:30Z')
  const late = fromIso('2026-01-02T00:00:00Z')
  if (!now || !soon || !late) throw new Error('not an instant')
  expect(nextAttemptAt(1, now, soon, policy(0.5))).toBe(soon)
  expect(String(nextAttemptAt(1, now, late, policy(0.5)))).toBe('2026-01-01 00:01:00.000000')
})
