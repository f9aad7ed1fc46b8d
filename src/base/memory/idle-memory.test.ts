import { expect, test } from 'bun:test'
import { newIdleMemoryRound } from './idle-memory.ts'

/** Runs a round for each second, in which the process used these milliseconds of CPU; the seconds in which it released memory. */
async function releasesAt(cpuOfSeconds: readonly number[], releaseCostMs = 0): Promise<number[]> {
  const released: number[] = []
  let cpu = 1000
  let second = 0
  let costMs = 0
  const round = newIdleMemoryRound({
    cpuMs: () => cpu,
    release() {
      released.push(second)
      costMs = releaseCostMs
    },
  })
  const { signal } = new AbortController()
  for (const used of cpuOfSeconds) {
    second++
    // A release takes place after the round that asked for it.
    cpu += used + costMs
    costMs = 0
    expect(await round(signal)).toBe('done')
  }
  return released
}

const seconds = (count: number, cpuMs: number) => Array.from({ length: count }, () => cpuMs)

test('memory is released after a minute with little to do, and ten seconds later, and then no more', async () => {
  expect(await releasesAt([...seconds(3, 900), ...seconds(200, 20)])).toEqual([63, 73])
})

test('a busy process never releases, nor one that works now and then', async () => {
  expect(await releasesAt(seconds(60, 500))).toEqual([])
  expect(await releasesAt(Array.from({ length: 600 }, (_, i) => (i % 59 === 58 ? 300 : 10)))).toEqual([])
})

test('it is released again after more work, and the release itself is no work', async () => {
  expect(await releasesAt([...seconds(90, 10), 800, ...seconds(90, 10)], 500)).toEqual([60, 70, 151, 161])
})
