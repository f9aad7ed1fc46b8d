import { expect, test } from 'bun:test'
import { DatabaseTimeoutError } from '../database/database-errors.ts'
import { batched } from './batch.ts'

test('puts the calls that come while a batch is in flight into the next', async () => {
  const batches: number[][] = []
  const { promise: firstBatch, resolve: finishFirst } = Promise.withResolvers<void>()
  const { promise: firstStarted, resolve: startFirst } = Promise.withResolvers<void>()
  const double = batched<number, number>({ maxItems: 10, maxInFlight: 1 }, async items => {
    batches.push([...items])
    startFirst()
    await firstBatch
    return items.map(item => item * 2)
  })
  const first = double(1)
  await firstStarted
  const others = [double(2), double(3)]
  finishFirst()
  expect(await Promise.all([first, ...others])).toEqual([2, 4, 6])
  expect(batches).toEqual([[1], [2, 3]])
})

test('waits for more items only after a batch of several, and until its callers are back', async () => {
  const batches: number[][] = []
  const gatherMs = 200
  const echo = batched<number, number>({ maxItems: 10, maxInFlight: 1, gatherMs }, async items => {
    batches.push([...items])
    return items
  })
  const started = performance.now()
  await echo(1)
  await echo(2)
  await Promise.all([echo(3), echo(4)])
  const next = echo(5)
  // Within the wait for more items.
  await Bun.sleep(gatherMs / 4)
  await Promise.all([next, echo(6)])
  expect(performance.now() - started).toBeLessThan(gatherMs)
  expect(batches).toEqual([[1], [2], [3, 4], [5, 6]])
  const alone = performance.now()
  await echo(7)
  expect(performance.now() - alone).toBeGreaterThanOrEqual(gatherMs - 1)
})

test('waits for those who waited for the last batch and for its callers together', async () => {
  const batches: number[][] = []
  const echo = batched<number, number>({ maxItems: 10, maxInFlight: 1, gatherMs: 200 }, async items => {
    batches.push([...items])
    await Bun.sleep(10)
    return items
  })
  const first = [echo(1), echo(2)]
  await Bun.sleep(2)
  const waiting = [echo(3), echo(4), echo(5)]
  await Promise.all(first)
  const began = performance.now()
  await Promise.all([...waiting, echo(6), echo(7)])
  expect(performance.now() - began).toBeLessThan(200)
  expect(batches).toEqual([
    [1, 2],
    [3, 4, 5, 6, 7],
  ])
})

test('takes a power of two of items where that is wanted, in order', async () => {
  const batches: number[][] = []
  const echo = batched<number, number>({ maxItems: 8, maxInFlight: 1, inPowersOfTwo: true }, async items => {
    batches.push([...items])
    return items
  })
  const all = Array.from({ length: 15 }, (_, i) => i)
  expect(await Promise.all(all.map(echo))).toEqual(all)
  expect(batches).toEqual([[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11], [12, 13], [14]])
})

test('keeps to the limits of items in a batch and of batches in flight', async () => {
  let inFlight = 0
  let mostInFlight = 0
  const echo = batched<number, number>({ maxItems: 4, maxInFlight: 2 }, async items => {
    expect(items.length).toBeLessThanOrEqual(4)
    mostInFlight = Math.max(mostInFlight, ++inFlight)
    // Long enough for other batches to overlap.
    await Bun.sleep(1)
    inFlight--
    return items
  })
  const all = Array.from({ length: 50 }, (_, i) => i)
  expect(await Promise.all(all.map(echo))).toEqual(all)
  expect(mostInFlight).toBeLessThanOrEqual(2)
})

test('a batch begins while the one before commits, and no third one', async () => {
  const commits: PromiseWithResolvers<void>[] = []
  const batches: number[][] = []
  const double = batched<number, number>({ maxItems: 2, maxInFlight: 1 }, async (items, proceed) => {
    batches.push([...items])
    proceed()
    const commit = Promise.withResolvers<void>()
    commits.push(commit)
    await commit.promise
    return items.map(item => item * 2)
  })
  const results = [1, 2, 3, 4, 5, 6].map(double)
  await Bun.sleep(5)
  expect(batches).toEqual([
    [1, 2],
    [3, 4],
  ])
  commits[1]?.resolve()
  expect(await Promise.all(results.slice(2, 4))).toEqual([6, 8])
  await Bun.sleep(5)
  expect(batches).toHaveLength(2)
  commits[0]?.resolve()
  expect(await Promise.all(results.slice(0, 2))).toEqual([2, 4])
  await Bun.sleep(5)
  expect(batches.slice(2)).toEqual([[5, 6]])
  // One that comes while the last of them commits begins as well.
  const late = double(7)
  await Bun.sleep(5)
  expect(batches.slice(3)).toEqual([[7]])
  for (const commit of commits) commit.resolve()
  expect(await Promise.all([...results.slice(4), late])).toEqual([10, 12, 14])
  const next = double(8)
  await Bun.sleep(5)
  commits.at(-1)?.resolve()
  expect(await next).toBe(16)
})

test('a batch whose commit failed while the next was in flight is tried one by one', async () => {
  const batches: number[][] = []
  const echo = batched<number, number>({ maxItems: 2, maxInFlight: 1 }, async (items, proceed) => {
    batches.push([...items])
    proceed()
    await Bun.sleep(5)
    if (items.includes(2)) throw new Error('the commit failed')
    return items
  })
  const results = await Promise.allSettled([1, 2, 3, 4].map(echo))
  expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(batches.slice(0, 2)).toEqual([
    [1, 2],
    [3, 4],
  ])
  expect(batches.slice(2)).toEqual([[1], [2]])
})

test('tries the items of a batch that failed one by one', async () => {
  const work = batched<number, number>({ maxItems: 10, maxInFlight: 1 }, items => {
    if (items.includes(2)) throw new Error('two')
    return Promise.resolve(items)
  })
  const results = await Promise.allSettled([work(1), work(2), work(3)])
  expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('works on after a batch that failed', async () => {
  let isBroken = true
  const work = batched<number, number>({ maxItems: 10, maxInFlight: 1 }, async items => {
    if (isBroken) throw new Error('broken')
    return items
  })
  await expect(work(1)).rejects.toThrow('broken')
  isBroken = false
  expect(await work(2)).toBe(2)
})

test('while the database is silent the calls of a batch fail with it, and so do those that waited', async () => {
  const { promise: silence, reject: giveUp } = Promise.withResolvers<never>()
  let batches = 0
  const work = batched<number, number>({ maxItems: 2, maxInFlight: 1 }, () => {
    batches++
    return silence
  })
  const calls = [work(1), work(2), work(3)]
  giveUp(new DatabaseTimeoutError('no answer'))
  const results = await Promise.allSettled(calls)
  expect(results.map(result => result.status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(batches).toBe(1)
})
