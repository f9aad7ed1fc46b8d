import type { PlannedEvent } from './delivery-plan.ts'

/** Postmark's webhook records, as documented at https://postmarkapp.com/developer/webhooks */
interface PostmarkRecordFacts {
  readonly emailId: string
  readonly address: string
  /** Postmark's id of the event: a repeated record has the same. */
  readonly number: number
}

/** The record of an event. @throws for `relayed`, which Postmark does not report */
export function postmarkRecord(event: PlannedEvent, about: PostmarkRecordFacts): object {
  const at = new Date(Date.UTC(2026, 0, 31) + about.number * 1000).toISOString()
  const message = {
    ServerID: 23,
    MessageStream: 'outbound',
    MessageID: `00000000-0000-0000-0000-${about.emailId.slice(-12)}`,
    Metadata: { 'mailroom-id': about.emailId },
  }
  const bounce = (Type: string) => ({
    ...message,
    RecordType: 'Bounce',
    ID: about.number,
    Type,
    Email: about.address,
    BouncedAt: at,
    Description: 'The server was unable to deliver your message.',
    Details: `smtp;${event.reply}`,
  })
  switch (event.kind) {
    case 'delivered':
      return {
        ...message,
        RecordType: 'Delivery',
        Recipient: about.address,
        DeliveredAt: at,
        Details: `smtp;${event.reply}`,
      }
    case 'delayed':
      return bounce('Transient')
    case 'failed':
      return bounce('HardBounce')
    case 'complained':
      return { ...bounce('SpamComplaint'), RecordType: 'SpamComplaint', Details: '' }
    case 'relayed':
      throw new Error('Postmark does not report a relay')
    default:
      return event.kind satisfies never
  }
}
