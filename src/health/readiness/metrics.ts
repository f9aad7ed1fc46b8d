import { type BackgroundJob, startJob } from '../../base/concurrency/background-job.ts'
import type { Log } from '../../base/observability/log.ts'
import { gauge } from '../../base/observability/metrics.ts'
import type { Readiness } from './readiness.ts'

const ready = gauge('mailroom_part_ready', '1 while a part that the service needs is ready, as `/ready` shows it.', [
  'part',
])

const pauseMs = 30_000

/** Keeps showing what `/ready` answers. */
export function startReadinessMetrics(readiness: Readiness, log: Log): BackgroundJob {
  return startJob({ pauseMs, log, failureMessage: 'what is ready was not noted' }, async () => {
    for (const [part, state] of Object.entries(await readiness())) ready.set({ part }, state.ready ? 1 : 0)
    return 'done'
  })
}
