import { expect, test } from 'bun:test'
import type { FlowKey } from '../outbox.ts'
import { FlowScheduler } from './flow-scheduler.ts'

const flow = (destination: string, organization = 'a'): FlowKey => ({
  organizationId: `org_${organization}`,
  destination,
})

/** A scheduler on a clock that is set by hand, and what runs in it. */
function scheduled(size: number) {
  let nowMs = 0
  const scheduler = new FlowScheduler(size, undefined, () => nowMs)
  const running: { readonly name: string; readonly end: () => void }[] = []
  const start = (key: FlowKey, name = key.destination) =>
    scheduler.run(key, slot =>
      slot.time(async () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        running.push({ name, end: resolve })
        await promise
      }),
    )
  return {
    scheduler,
    start,
    names: () => running.map(work => work.name),
    async settled() {
      // The scheduler goes on in microtasks.
      await Bun.sleep(0)
    },
    /** Ends what has run longest, of that name, after so many milliseconds. */
    async end(name: string, afterMs: number) {
      const index = running.findIndex(work => work.name === name)
      nowMs += afterMs
      running.splice(index, 1)[0]?.end()
      await Bun.sleep(0)
    },
    passTime(ms: number) {
      nowMs += ms
    },
  }
}

const many = (count: number, name: string) => Array.from({ length: count }, () => name)

test('a flow of which nothing is known has one connection, and more as it turns out to be fast', async () => {
  const { start, names, end, settled } = scheduled(10)
  for (let i = 0; i < 20; i++) void start(flow('x'))
  await settled()
  const counts = [names().length]
  for (let i = 0; i < 10; i++) {
    await end('x', 10)
    counts.push(names().length)
  }
  expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10])
})

test('flows that are slow leave two of ten connections, one of them also by those that are not known', async () => {
  const { start, names, end, settled, passTime } = scheduled(10)
  for (const name of ['slow', 'fast']) {
    void start(flow(name))
    await settled()
    await end(name, name === 'slow' ? 5000 : 10)
  }
  for (let i = 0; i < 20; i++) void start(flow('slow'))
  await settled()
  expect(names()).toEqual(many(8, 'slow'))
  for (let i = 0; i < 3; i++) void start(flow(`new${i}`))
  await settled()
  expect(names()).toEqual([...many(8, 'slow'), 'new0'])
  void start(flow('fast'))
  await settled()
  expect(names()).toEqual([...many(8, 'slow'), 'new0', 'fast'])
  // Another organization’s mail to the slow domain is slow as well, and waits with it.
  void start(flow('slow', 'b'), 'slow of b')
  await end('fast', 10)
  expect(names()).not.toContain('slow of b')
  await end('slow', 100)
  expect(names()).toContain('slow of b')
  // A slow flow is forgotten when it has not been slow for half a minute.
  passTime(30_000)
  await end('new0', 10)
  expect(names()).toContain('new1')
})

test('the next connection goes to the flow that has the fewest, and among these to the one that waits longest', async () => {
  const { start, names, end, settled } = scheduled(4)
  for (const name of ['big', 'one', 'two', 'three']) {
    void start(flow(name))
    await settled()
    for (let i = 0; i < 5; i++) {
      await end(name, 1)
      void start(flow(name))
      await settled()
    }
    await end(name, 1)
  }
  for (let i = 0; i < 20; i++) void start(flow('big'))
  await settled()
  expect(names()).toEqual(many(4, 'big'))
  for (const name of ['three', 'one', 'two', 'one']) void start(flow(name))
  for (const next of ['three', 'one', 'two', 'big']) {
    await end('big', 1)
    expect(names().at(-1)).toBe(next)
  }
})

test('work that waits is given back: all, or of slow flows what is beyond a limit', async () => {
  const { scheduler, start, end, settled } = scheduled(4)
  void start(flow('slow'))
  await settled()
  await end('slow', 2000)
  const slow = Array.from({ length: 10 }, () => start(flow('slow')))
  const fresh = [start(flow('new')), start(flow('new'))]
  scheduler.giveBack(3)
  // Two of them run.
  expect(await Promise.all(slow.slice(5))).toEqual(many(5, '').map(() => false))
  scheduler.giveBack()
  expect(await Promise.all([...slow.slice(2, 5), ...fresh.slice(1)])).toEqual([false, false, false, false])
})

test('a connection is free again after work that throws', async () => {
  const scheduler = new FlowScheduler(1)
  await expect(scheduler.run(flow('x'), () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await scheduler.run(flow('x'), async () => undefined)).toBe(true)
})
