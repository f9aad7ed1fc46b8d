import { expect, test } from 'bun:test'
import { openLog } from '../observability/log.ts'
import { startJob } from './background-job.ts'

const log = openLog('silent')

test('goes on at once while there is more, and pauses when there is none', async () => {
  const times: number[] = []
  const { promise: sixth, resolve } = Promise.withResolvers<void>()
  const rounds = startJob({ pauseMs: 100, log, failureMessage: '' }, () => {
    times.push(performance.now())
    if (times.length === 6) resolve()
    return Promise.resolve(times.length % 3 === 0 ? 'done' : 'more')
  })
  await sixth
  await rounds.stop()
  const waits = times.slice(1).map((at, i) => at - (times[i] ?? 0) > 90)
  expect(waits).toEqual([false, false, true, false, false])
})

test('begins another round after one that threw', async () => {
  let begun = 0
  const { promise: again, resolve } = Promise.withResolvers<void>()
  const rounds = startJob({ pauseMs: 1, log, failureMessage: 'it threw' }, () => {
    if (++begun === 2) resolve()
    return Promise.reject(new Error('trouble'))
  })
  await again
  await rounds.stop()
})

test('stops once the round under way has ended, and without waiting for the pause', async () => {
  const { promise: work, resolve: finish } = Promise.withResolvers<'done'>()
  let heard = false
  const rounds = startJob({ pauseMs: 60_000, log, failureMessage: '' }, signal => {
    signal.addEventListener('abort', () => {
      heard = true
    })
    return work
  })
  let stopped = false
  const stopping = rounds.stop().then(() => {
    stopped = true
  })
  await Bun.sleep(5)
  expect([heard, stopped]).toEqual([true, false])
  finish('done')
  await stopping
})
