import type { EmailStatus } from '../base/schema.ts'

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

/** A recipient's status after an event: a late bounce beats `delivered`, a late `sent` or `delayed` beats nothing final. */
export function nextStatus(current: EmailStatus, event: EmailStatus): EmailStatus {
  return followers[current].includes(event) ? event : current
}

/** An email's status: the first of the order of precedence that any recipient has. */
export function emailStatus(recipients: readonly EmailStatus[]): EmailStatus {
  const status = precedence.find(each => recipients.includes(each))
  if (!status) throw new Error('an email without recipients has no status')
  return status
}
