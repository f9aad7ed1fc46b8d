import { type Clock, type Instant, millisecondsOf } from '../../base/clock.ts'
import type { JobRound } from '../../base/concurrency/background-job.ts'
import type { Db } from '../../base/database/database.ts'
import { gauge } from '../../base/observability/metrics.ts'
import { countQueue } from './count-table.ts'

const recipients = gauge(
  'mailroom_queue_recipients',
  'Recipients still to be submitted: due, in_flight (a relay has them), later (scheduled, or waiting for another attempt), held.',
  ['state'],
)
const oldestDue = gauge(
  'mailroom_queue_oldest_due_seconds',
  'For how long the recipient due longest has been; 0: none is.',
)
const oldestTried = gauge(
  'mailroom_queue_oldest_tried_seconds',
  'The age of the oldest email that was tried in vain and waits for another attempt; 0: none does.',
)

/** A count takes longer the more there is: it rests so many times as long as it took. */
const rest = 50

/** Prepares the job `queue-metrics`: counts what waits to be submitted. Every relay shows the same: it is one queue. */
export function openQueueMetrics({ db, clock }: { readonly db: Db; readonly clock: Clock }): JobRound {
  let again = 0
  return async () => {
    const started = performance.now()
    if (started < again) return 'done'
    const now = clock.now()
    const count = await countQueue(db, now)
    recipients.set({ state: 'due' }, count.due)
    recipients.set({ state: 'in_flight' }, count.inFlight)
    recipients.set({ state: 'later' }, count.later)
    recipients.set({ state: 'held' }, count.held)
    oldestDue.set(secondsSince(count.oldestDueAt, now))
    oldestTried.set(secondsSince(count.oldestTriedAt, now))
    const ended = performance.now()
    again = ended + (ended - started) * rest
    return 'done'
  }
}

function secondsSince(at: Instant | null, now: Instant): number {
  return at === null ? 0 : Math.max(0, millisecondsOf(now) - millisecondsOf(at)) / 1000
}
