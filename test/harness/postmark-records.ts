import type { PlannedEvent } from './delivery-plan.ts'

/** What Postmark tells of a recipient, as its documentation shows it. https://postmarkapp.com/developer/webhooks */
interface PostmarkRecordFacts {
  readonly emailId: string
  readonly address: string
  /** Postmark's own number of this news: what is repeated has the same. */
  readonly number: number
}

/** The record of a piece of news; `relayed` is none that Postmark tells. */
export function postmarkRecord(news: PlannedEvent, about: PostmarkRecordFacts): object {
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
    Details: `smtp;${news.reply}`,
  })
  switch (news.kind) {
    case 'delivered':
      return {
        ...message,
        RecordType: 'Delivery',
        Recipient: about.address,
        DeliveredAt: at,
        Details: `smtp;${news.reply}`,
      }
    case 'delayed':
      return bounce('Transient')
    case 'failed':
      return bounce('HardBounce')
    case 'complained':
      return { ...bounce('SpamComplaint'), RecordType: 'SpamComplaint', Details: '' }
    case 'relayed':
      throw new Error('Postmark does not tell what was passed on')
    default:
      return news.kind satisfies never
  }
}
