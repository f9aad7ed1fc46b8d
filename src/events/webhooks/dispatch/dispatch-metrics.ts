import { type Clock, millisecondsOf } from '../../../base/clock.ts'
import type { JobRound } from '../../../base/concurrency/background-job.ts'
import type { Db } from '../../../base/database/database.ts'
import { counter, gauge, histogram } from '../../../base/observability/metrics.ts'
import { countWebhookStates } from '../table.ts'
import { selectOldestUnread } from './claim-table.ts'
import type { TaskOutcome } from './outcome.ts'

const attempts = counter(
  'mailroom_webhook_attempts_total',
  'Attempts to deliver an event to a webhook, by what followed: delivered, retrying (there will be another) or failed.',
  ['outcome'],
)
for (const outcome of ['delivered', 'retrying', 'failed']) attempts.inc({ outcome }, 0)

const attemptSeconds = histogram(
  'mailroom_webhook_attempt_seconds',
  'Duration of attempts to deliver an event to a webhook, with the look-up of its name.',
  [],
  [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
)

const states = gauge('mailroom_webhooks', 'Webhooks by state: active, failing or disabled.', ['state'])
const lag = gauge(
  'mailroom_webhook_lag_seconds',
  'Age of the oldest event that a webhook which does not fail has not been sent yet; 0: there is none.',
)

export function countAttempt({ delivery, isSuccess }: TaskOutcome): void {
  if (isSuccess === null) return
  attempts.inc({ outcome: delivery.status })
  attemptSeconds.observe((delivery.duration_ms ?? 0) / 1000)
}

/** Prepares the job `webhook-metrics`. */
export function openWebhookMetrics({ db, clock }: { readonly db: Db; readonly clock: Clock }): JobRound {
  return async () => {
    for (const [state, count] of Object.entries(await countWebhookStates(db))) states.set({ state }, count)
    const oldest = await selectOldestUnread(db)
    lag.set(oldest === null ? 0 : Math.max(0, millisecondsOf(clock.now()) - millisecondsOf(oldest)) / 1000)
    return 'done'
  }
}
