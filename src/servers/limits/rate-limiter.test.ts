import { expect, test } from 'bun:test'
import { openRateLimiter, type RateLimiter, secondsUntilReset, type WindowCounts } from './rate-limiter.ts'

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

/** Limiters that tell each other, and how often one did. */
function connected(count: number, perMinute: number) {
  const receivers: ((counts: WindowCounts) => void)[] = []
  let messages = 0
  const limiters = Array.from({ length: count }, (_, i) =>
    openRateLimiter(perMinute, {
      send(counts) {
        messages++
        for (const [j, receive] of receivers.entries()) if (j !== i) receive(counts)
      },
      onReceive: receive => receivers.push(receive),
    }),
  )
  return { limiters, messages: () => messages }
}

const nowMs = 1_000_000 * 60_000
const countAllowed = (limiter: RateLimiter | undefined, requests: number, atMs = nowMs) =>
  Array.from({ length: requests }, () => limiter?.consume('a', atMs)).filter(status => status?.isAllowed).length
/** Longer than counts wait to be sent, there and back. */
const exchanged = () => Bun.sleep(100)

test('a client gets its limit once, however its requests are spread over processes', async () => {
  const { limiters } = connected(3, 100)
  const [first, second, third] = limiters
  expect(countAllowed(first, 60)).toBe(60)
  await exchanged()
  expect(countAllowed(second, 30)).toBe(30)
  await exchanged()
  expect(third?.consume('a', nowMs)).toMatchObject({ isAllowed: true, remaining: 9 })
  await exchanged()
  expect([countAllowed(first, 20), first?.consume('b', nowMs).remaining]).toEqual([9, 99])
  await exchanged()
  expect([countAllowed(second, 5), countAllowed(third, 5)]).toEqual([0, 0])
  expect(countAllowed(second, 200, nowMs + 60_000)).toBe(100)
})

test('processes tell each other nothing of clients that are far from their limit, and seldom of others', async () => {
  const { limiters, messages } = connected(2, 100)
  expect(limiters.map(limiter => countAllowed(limiter, 10))).toEqual([10, 10])
  await exchanged()
  expect(messages()).toBe(0)
  // From now on the other tells what it had not told yet, too.
  expect(countAllowed(limiters[0], 60)).toBe(60)
  await exchanged()
  expect([messages(), countAllowed(limiters[1], 100)]).toEqual([2, 20])
})
