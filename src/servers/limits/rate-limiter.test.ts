import { expect, test } from 'bun:test'
import { openRateLimiter, secondsUntilReset } from './rate-limiter.ts'

test('allows the given number of requests in each minute, for each key', () => {
  const limiter = openRateLimiter(2)
  const startMs = 1_000_000 * 60_000
  const consume = (key: string, ms: number) => limiter.consume(key, startMs + ms).isAllowed
  expect([consume('a', 0), consume('a', 1), consume('a', 2), consume('b', 3)]).toEqual([true, true, false, true])
  expect([consume('a', 59_999), consume('a', 60_000)]).toEqual([false, true])
  const status = limiter.consume('c', startMs + 90_500)
  expect(status).toMatchObject({ limit: 2, remaining: 1, resetsAt: 1_000_002 * 60 })
  expect(secondsUntilReset(status, startMs + 90_500)).toBe(30)
  expect(secondsUntilReset(status, startMs + 119_999)).toBe(1)
})
