import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import type { Log } from '../observability/log.ts'
import { openLog } from '../observability/log.ts'
import { startJob } from './background-job.ts'

const log = openLog('silent')

test('starts the next round at once while there is more to do, and after the interval when there is not', async () => {
  const times: number[] = []
  const { promise: sixth, resolve } = Promise.withResolvers<void>()
  const job = startJob({ name: 'test', intervalMs: 100, log }, () => {
    times.push(performance.now())
    if (times.length === 6) resolve()
    return Promise.resolve(times.length % 3 === 0 ? 'done' : 'more')
  })
  await sixth
  await job.stop()
  const waits = times.slice(1).map((at, i) => at - (times[i] ?? 0) > 90)
  expect(waits).toEqual([false, false, true, false, false])
})

test('logs a round that threw under the name of the job, and starts another', async () => {
  let rounds = 0
  const lines: unknown[] = []
  const recording = { error: (fields: unknown) => lines.push(fields) } as unknown as Log
  const { promise: again, resolve } = Promise.withResolvers<void>()
  const job = startJob({ name: 'test', intervalMs: 1, log: recording }, () => {
    if (++rounds === 2) resolve()
    return Promise.reject(new Error('no database'))
  })
  await again
  await job.stop()
  expect(lines[0]).toMatchObject({ job: 'test', err: { message: 'no database' }, retry_in_ms: 1 })
})

test('stops once the running round has ended, without waiting for the interval', async () => {
  const { promise: work, resolve: finish } = Promise.withResolvers<'done'>()
  let isAborted = false
  const job = startJob({ name: 'test', intervalMs: 60_000, log }, signal => {
    signal.addEventListener('abort', () => {
      isAborted = true
    })
    return work
  })
  let isStopped = false
  const stopping = job.stop().then(() => {
    isStopped = true
  })
  // Long enough for a stop that does not wait for the round.
  await Bun.sleep(5)
  expect([isAborted, isStopped]).toEqual([true, false])
  finish('done')
  await stopping
})

test('keeps nothing of the pauses between its rounds', async () => {
  let rounds = 0
  const { promise: enough, resolve } = Promise.withResolvers<void>()
  const job = startJob({ name: 'test', intervalMs: 0, log }, () => {
    if (++rounds === 1000) resolve()
    return Promise.resolve('done')
  })
  await enough
  Bun.gc(true)
  expect(heapStats().objectTypeCounts['Timeout'] ?? 0).toBeLessThan(100)
  await job.stop()
})
