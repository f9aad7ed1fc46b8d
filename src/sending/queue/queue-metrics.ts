import { type Clock, type Instant, millisecondsOf } from '../../base/clock.ts'
import type { JobRound } from '../../base/concurrency/background-job.ts'
import type { Db } from '../../base/database/database.ts'
import { gauge } from '../../base/observability/metrics.ts'
import { countQueue } from './count-table.ts'

const recipients = gauge(
  'mailroom_queue_recipients',
  'Recipients still to be submitted: due, in_flight (claimed by a relay), later (scheduled, or waiting for another attempt), held.',
  ['state'],
)
const oldestDue = gauge(
  'mailroom_queue_oldest_due_seconds',
  'For how long the recipient that is due longest has been due; 0: none is due.',
)
const oldestTried = gauge(
  'mailroom_queue_oldest_tried_seconds',
  'The age of the oldest email that was attempted and waits for another attempt; 0: none does.',
)

/** Counting takes longer the longer the queue is: the next count waits so many times as long as the last one took. */
const pauseFactor = 50

/** Prepares the job `queue-metrics`: counts the queue. Every relay reports the same, because they share one queue. */
export function openQueueMetrics({ db, clock }: { readonly db: Db; readonly clock: Clock }): JobRound {
  let nextAtMs = 0
  return async () => {
    const startedMs = performance.now()
    if (startedMs < nextAtMs) return 'done'
    const now = clock.now()
    const count = await countQueue(db, now)
    recipients.set({ state: 'due' }, count.due)
    recipients.set({ state: 'in_flight' }, count.inFlight)
    recipients.set({ state: 'later' }, count.later)
    recipients.set({ state: 'held' }, count.held)
    oldestDue.set(secondsSince(count.oldestDueAt, now))
    oldestTried.set(secondsSince(count.oldestTriedAt, now))
    const endedMs = performance.now()
    nextAtMs = endedMs + (endedMs - startedMs) * pauseFactor
    return 'done'
  }
}

function secondsSince(at: Instant | null, now: Instant): number {
  return at === null ? 0 : Math.max(0, millisecondsOf(now) - millisecondsOf(at)) / 1000
}
