import { type Instant, plusMs } from '../../base/clock.ts'
import type { EmailStatus } from '../../base/database/schema.ts'

const reports = ['delivered', 'bounced', 'complained'] as const
const outcomes = ['sent', 'delayed', ...reports, 'suppressed', 'rejected', 'failed'] as const

/** Is the recipient still to be submitted? */
export function isUnsent(status: EmailStatus): boolean {
  return status === 'scheduled' || status === 'queued' || status === 'sending' || status === 'delayed'
}

/** What may follow each status of a recipient. What is absent comes too late, or contradicts what is known. */
const followers: Readonly<Record<EmailStatus, readonly EmailStatus[]>> = {
  scheduled: ['queued', 'sending', ...outcomes, 'canceled'],
  queued: ['sending', ...outcomes, 'canceled'],
  sending: ['queued', ...outcomes],
  delayed: ['sending', ...outcomes, 'canceled'],
  sent: ['delayed', ...reports, 'rejected', 'failed'],
  delivered: ['bounced', 'complained'],
  // Given up after an attempt with an unknown outcome: a report is better evidence.
  failed: reports,
  bounced: ['complained'],
  complained: [],
  suppressed: [],
  rejected: [],
  canceled: [],
}

const precedence: readonly EmailStatus[] = [
  'failed',
  'rejected',
  'bounced',
  'complained',
  'delayed',
  'sending',
  'queued',
  'scheduled',
  'sent',
  'delivered',
  'suppressed',
  'canceled',
]

/** A status of a recipient, since when, and from whom it is known. */
export interface KnownStatus {
  readonly status: EmailStatus
  readonly at: Instant
  /** Reported by someone else, by their clock; otherwise observed by Mailroom itself, in the order in which it happened. */
  readonly isReported: boolean
}

/**
 * Does an event change the status of a recipient? A late bounce beats `delivered`, a late `sent` or `delayed` beats nothing
 * final. `sent` and `delayed` may alternate: of those two, and of the same status reported again, the later evidence counts,
 * in whatever order it arrives.
 */
export function takesEffect(event: KnownStatus, current: KnownStatus): boolean {
  if (event.status !== current.status && !followers[current.status].includes(event.status)) return false
  const isByTime = event.status === current.status || (alternating.has(event.status) && alternating.has(current.status))
  if (!isByTime || !(event.isReported || current.isReported)) return true
  return knownBy(event) >= knownBy(current)
}

const alternating: ReadonlySet<EmailStatus> = new Set(['sent', 'delayed'])

/** Most reports give whole seconds: the event had happened by the end of that second. */
function knownBy({ at, isReported }: KnownStatus): Instant {
  return isReported && at.endsWith('.000000') ? plusMs(at, 999.999) : at
}

/** An email's status: the first of the order of precedence that any recipient has. */
export function emailStatus(recipients: readonly EmailStatus[]): EmailStatus {
  const status = precedence.find(candidate => recipients.includes(candidate))
  if (!status) throw new Error('an email without recipients has no status')
  return status
}
