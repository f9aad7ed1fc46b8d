import type { EmailStatus } from '../base/schema.ts'

/** What may follow each status of a recipient. What is absent comes too late, or is contradicted by what is known. */
const followers: Readonly<Record<EmailStatus, ReadonlySet<EmailStatus>>> = {
  scheduled: new Set([
    'queued',
    'sending',
    'sent',
    'delayed',
    'delivered',
    'bounced',
    'complained',
    'suppressed',
    'rejected',
    'failed',
    'canceled',
  ]),
  queued: new Set([
    'sending',
    'sent',
    'delayed',
    'delivered',
    'bounced',
    'complained',
    'suppressed',
    'rejected',
    'failed',
    'canceled',
  ]),
  sending: new Set([
    'queued',
    'sent',
    'delayed',
    'delivered',
    'bounced',
    'complained',
    'suppressed',
    'rejected',
    'failed',
  ]),
  delayed: new Set([
    'sending',
    'sent',
    'delivered',
    'bounced',
    'complained',
    'suppressed',
    'rejected',
    'failed',
    'canceled',
  ]),
  sent: new Set(['delayed', 'delivered', 'bounced', 'complained', 'rejected', 'failed']),
  delivered: new Set(['bounced', 'complained']),
  // Given up after an attempt whose outcome stayed open: a report of what became of it is the better evidence.
  failed: new Set(['delivered', 'bounced', 'complained']),
  bounced: new Set(['complained']),
  complained: new Set(),
  suppressed: new Set(),
  rejected: new Set(),
  canceled: new Set(),
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
  return followers[current].has(event) ? event : current
}

/** An email's status: the first of the order of precedence that any recipient has. */
export function emailStatus(recipients: readonly EmailStatus[]): EmailStatus {
  const status = precedence.find(each => recipients.includes(each))
  if (!status) throw new Error('an email without recipients has no status')
  return status
}
