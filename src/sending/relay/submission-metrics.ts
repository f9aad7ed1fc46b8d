import { type Instant, millisecondsOf } from '../../base/clock.ts'
import { counter, histogram } from '../../base/observability/metrics.ts'
import type { SubmissionOutcome } from '../../ports/provider/port.ts'
import type { ClaimedRecipient } from './outbox.ts'

const submissions = counter(
  'mailroom_submissions_total',
  'Attempts to submit a recipient to the provider, by outcome and class of the reply (`none`: there was no reply).',
  ['outcome', 'reply'],
)
for (const outcome of ['accepted', 'deferred', 'failed', 'route-error'] satisfies SubmissionOutcome['kind'][])
  submissions.inc(
    { outcome: labelOf(outcome), reply: outcome === 'accepted' ? '2xx' : outcome === 'failed' ? '5xx' : '4xx' },
    0,
  )

const sendDelay = histogram(
  'mailroom_send_delay_seconds',
  'From the acceptance of an email, or the time it was scheduled for, until the provider took it for a recipient.',
  [],
  [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600],
)

/** Counts one attempt for one recipient. */
export function countSubmission(
  { createdAt, scheduledAt }: Pick<ClaimedRecipient, 'createdAt' | 'scheduledAt'>,
  { kind, reply }: SubmissionOutcome,
  now: Instant,
): void {
  submissions.inc({ outcome: labelOf(kind), reply: classOf(reply.code) })
  if (kind === 'accepted')
    sendDelay.observe(Math.max(0, millisecondsOf(now) - millisecondsOf(scheduledAt ?? createdAt)) / 1000)
}

/** The label of an outcome: dashboards and alerts know a route error by its older name. */
function labelOf(kind: SubmissionOutcome['kind']): string {
  return kind === 'route-error' ? 'route-trouble' : kind
}

/** RFC 5321 §4.2.1: what the first digit says. */
function classOf(code: number | null): '2xx' | '4xx' | '5xx' | 'none' | 'other' {
  switch (code === null ? null : Math.floor(code / 100)) {
    case 2:
      return '2xx'
    case 4:
      return '4xx'
    case 5:
      return '5xx'
    case null:
      return 'none'
    default:
      return 'other'
  }
}
