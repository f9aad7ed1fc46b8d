import { expect, test } from 'bun:test'
import { openRateLimiter, secondsUntilReset } from './rate-limiter.ts'

test('allows so many in each minute, for each name', () => {
  const limit = openRateLimiter(2)
  const at = 1_000_000 * 60_000
  const take = (name: string, ms: number) => limit.consume(name, at + ms).isAllowed
  expect([take('a', 0), take('a', 1), take('a', 2), take('b', 3)]).toEqual([true, true, false, true])
  expect([take('a', 59_999), take('a', 60_000)]).toEqual([false, true])
  const allowance = limit.consume('c', at + 90_500)
  expect(allowance).toMatchObject({ limit: 2, remaining: 1, resetsAt: 1_000_002 * 60 })
  expect(secondsUntilReset(allowance, at + 90_500)).toBe(30)
  expect(secondsUntilReset(allowance, at + 119_999)).toBe(1)
})
