import { expect, test } from 'bun:test'
import { batched } from './batch.ts'

test('gathers what comes while a batch is under way', async () => {
  const batches: number[][] = []
  const double = batched<number, number>({ maxItems: 10, maxInFlight: 1 }, async items => {
    batches.push([...items])
    await Bun.sleep(5)
    return items.map(each => each * 2)
  })
  const first = double(1)
  await Bun.sleep(1)
  expect(await Promise.all([first, double(2), double(3)])).toEqual([2, 4, 6])
  expect(batches).toEqual([[1], [2, 3]])
})

test('waits for company only where there was some', async () => {
  const batches: number[][] = []
  const gatherMs = 200
  const echo = batched<number, number>({ maxItems: 10, maxInFlight: 1, gatherMs }, async items => {
    batches.push([...items])
    await Bun.sleep(5)
    return items
  })
  const started = performance.now()
  await echo(1)
  await echo(2)
  expect(performance.now() - started).toBeLessThan(gatherMs)
  await Promise.all([echo(3), echo(4)])
  const busy = performance.now()
  const next = echo(5)
  await Bun.sleep(gatherMs / 2)
  await Promise.all([next, echo(6)])
  expect(performance.now() - busy).toBeGreaterThanOrEqual(gatherMs)
  expect(batches).toEqual([[1], [2], [3, 4], [5, 6]])
})

test('holds no more than the limit in a batch and under way', async () => {
  let underWay = 0
  let most = 0
  const echo = batched<number, number>({ maxItems: 4, maxInFlight: 2 }, async items => {
    expect(items.length).toBeLessThanOrEqual(4)
    most = Math.max(most, ++underWay)
    await Bun.sleep(1)
    underWay--
    return items
  })
  const all = Array.from({ length: 50 }, (_, i) => i)
  expect(await Promise.all(all.map(echo))).toEqual(all)
  expect(most).toBeLessThanOrEqual(2)
})

test("one item's fault is not its neighbours'", async () => {
  const work = batched<number, number>({ maxItems: 10, maxInFlight: 1 }, items => {
    if (items.includes(2)) throw new Error('two')
    return Promise.resolve(items)
  })
  const results = await Promise.allSettled([work(1), work(2), work(3)])
  expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('goes on after a batch that failed', async () => {
  let broken = true
  const work = batched<number, number>({ maxItems: 10, maxInFlight: 1 }, async items => {
    if (broken) throw new Error('broken')
    return items
  })
  expect(work(1)).rejects.toThrow('broken')
  await Bun.sleep(1)
  broken = false
  expect(await work(2)).toBe(2)
})
