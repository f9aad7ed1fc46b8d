import { type Instant, plusMs } from '../../base/clock.ts'
import type { EmailStatus } from '../../base/database/schema.ts'

const reports = ['delivered', 'bounced', 'complained'] as const
const outcomes = ['sent', 'delayed', ...reports, 'suppressed', 'rejected', 'failed'] as const

/** What may follow each status of a recipient. What is absent comes too late, or is contradicted by what is known. */
const followers: Readonly<Record<EmailStatus, readonly EmailStatus[]>> = {
  scheduled: ['queued', 'sending', ...outcomes, 'canceled'],
  queued: ['sending', ...outcomes, 'canceled'],
  sending: ['queued', ...outcomes],
  delayed: ['sending', ...outcomes, 'canceled'],
  sent: ['delayed', ...reports, 'rejected', 'failed'],
  delivered: ['bounced', 'complained'],
  // Given up after an attempt whose outcome stayed open: a report of what became of it is the better evidence.
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

/** What is known of a recipient: a status, since when, and from whom. */
export interface KnownStatus {
  readonly status: EmailStatus
  readonly at: Instant
  /** Someone else told us, in their time; else we saw it ourselves, and learn such things in the order they happen. */
  readonly isReported: boolean
}

/**
 * Does an event take effect on what is known of a recipient? A late bounce beats `delivered`, a late `sent` or `delayed`
 * beats nothing final. `sent` and `delayed` follow each other by turns: of those, and of the same status told again, the
 * later evidence holds, in whatever order the two come.
 */
export function takesEffect(event: KnownStatus, current: KnownStatus): boolean {
  if (event.status !== current.status && !followers[current.status].includes(event.status)) return false
  const isByTime = event.status === current.status || (byTurns.has(event.status) && byTurns.has(current.status))
  if (!isByTime || !(event.isReported || current.isReported)) return true
  return knownBy(event) >= knownBy(current)
}

const byTurns: ReadonlySet<EmailStatus> = new Set(['sent', 'delayed'])

/** Most reports tell whole seconds: what happened in one had happened by its end. */
function knownBy({ at, isReported }: KnownStatus): Instant {
  return isReported && at.endsWith('.000000') ? plusMs(at, 999.999) : at
}

/** An email's status: the first of the order of precedence that any recipient has. */
export function emailStatus(recipients: readonly EmailStatus[]): EmailStatus {
  const status = precedence.find(each => recipients.includes(each))
  if (!status) throw new Error('an email without recipients has no status')
  return status
}
