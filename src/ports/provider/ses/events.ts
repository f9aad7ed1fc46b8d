import { eventTime, fieldsAt, type JsonFields, parseReplyText, textAt } from '../webhooks/request-fields.ts'
import type { EventMeaning, ProviderBounce, ProviderEvent, WebhookRequest } from '../webhooks/webhook.ts'
import { messageIdDomain, sesEmailIdTag } from './message-id.ts'

type Arrival = Pick<WebhookRequest, 'receivedAt'>

/**
 * The provider events in an event that SES publishes, one for each recipient that it names; none if it is not about a
 * delivery or not about an email of ours.
 * https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
 */
export function readSesEvent(event: JsonFields, region: string, arrival: Arrival): readonly ProviderEvent[] {
  const mail = fieldsAt(event, 'mail')
  const summary = summarize(event, mail)
  const emailId = firstText(fieldsAt(mail, 'tags')[sesEmailIdTag])
  const messageId = textAt(mail, 'messageId')
  if (!summary || emailId === null || messageId === null) return []
  const at = textAt(summary.about, 'timestamp') ?? textAt(mail, 'timestamp')
  return summary.recipients.map(({ address, text, status }) => {
    const reply = parseReplyText(text)
    return {
      type: summary.type,
      bounce: summary.bounce,
      ...reply,
      enhancedCode: reply.enhancedCode ?? statusIn(status),
      emailId,
      recipient: address,
      occurredAt: eventTime(at === null ? null : Date.parse(at), arrival),
      key: [summary.type, messageId, address.toLowerCase(), at, textAt(summary.about, 'feedbackId')].join(' '),
      providerMessageId: messageId,
      wireMessageId: `${messageId}@${messageIdDomain(region)}`,
    }
  })
}

interface SesEventSummary extends EventMeaning {
  /** The part of the event that describes what happened. */
  readonly about: JsonFields
  readonly recipients: readonly EventRecipient[]
}

/** A recipient that an event names, with its reply and enhanced status code. */
interface EventRecipient {
  readonly address: string
  readonly text: string | null
  readonly status: string | null
}

function summarize(event: JsonFields, mail: JsonFields): SesEventSummary | undefined {
  switch (textAt(event, 'eventType')) {
    case 'Delivery': {
      const about = fieldsAt(event, 'delivery')
      return {
        type: 'delivered',
        bounce: null,
        about,
        recipients: readRecipients(about['recipients'], textAt(about, 'smtpResponse')),
      }
    }
    case 'DeliveryDelay': {
      const about = fieldsAt(event, 'deliveryDelay')
      const recipients = readRecipients(about['delayedRecipients'], textAt(about, 'delayType'))
      return { type: 'delayed', bounce: null, about, recipients }
    }
    case 'Bounce': {
      const about = fieldsAt(event, 'bounce')
      const kind = `${textAt(about, 'bounceType')}/${textAt(about, 'bounceSubType')}`
      return { ...meaningOfBounce(about), about, recipients: readRecipients(about['bouncedRecipients'], kind) }
    }
    case 'Complaint':
      return complaint(fieldsAt(event, 'complaint'))
    case 'Reject': {
      const about = fieldsAt(event, 'reject')
      return { ...rejected, about, recipients: readRecipients(mail['destination'], textAt(about, 'reason')) }
    }
    case 'Rendering Failure': {
      const about = fieldsAt(event, 'failure')
      return { ...rejected, about, recipients: readRecipients(mail['destination'], textAt(about, 'errorMessage')) }
    }
    default:
      return undefined
  }
}

const rejected: EventMeaning = { type: 'rejected', bounce: null }

/** SES did not try addresses on its suppression list or the account's: it rejected them itself. */
function meaningOfBounce(bounce: JsonFields): EventMeaning {
  const subType = textAt(bounce, 'bounceSubType') ?? ''
  if (['Suppressed', 'OnAccountSuppressionList', 'UnsubscribedRecipient'].includes(subType)) return rejected
  return { type: 'bounced', bounce: { type: typeOf(textAt(bounce, 'bounceType')), scope: scopeOf(subType) } }
}

function typeOf(bounceType: string | null): ProviderBounce['type'] {
  switch (bounceType) {
    case 'Permanent':
      return 'permanent'
    case 'Transient':
      return 'transient'
    default:
      return 'undetermined'
  }
}

/** null for `General`: then the server's reply decides. */
function scopeOf(subType: string): ProviderBounce['scope'] {
  switch (subType) {
    case 'NoEmail':
    case 'MailboxFull':
      return 'recipient'
    case 'MessageTooLarge':
    case 'ContentRejected':
    case 'AttachmentRejected':
      return 'infrastructure'
    default:
      return null
  }
}

/** A `not-spam` report withdraws a complaint (feedback types: RFC 5965 §7.3), so it is none. */
function complaint(about: JsonFields): SesEventSummary | undefined {
  const feedback = textAt(about, 'complaintFeedbackType')
  if (feedback === 'not-spam') return undefined
  const isListed = textAt(about, 'complaintSubType') === 'OnAccountSuppressionList'
  const text = isListed ? 'OnAccountSuppressionList' : feedback
  const recipients = readRecipients(about['complainedRecipients'], text)
  return { ...(isListed ? rejected : { type: 'complained', bounce: null }), about, recipients }
}

/** SES allows no more in one message. */
const maxRecipients = 50

/** Recipients as SES lists them: addresses, or objects. `text`: the reply for those that have none of their own. */
function readRecipients(list: unknown, text: string | null): readonly EventRecipient[] {
  if (!Array.isArray(list)) return []
  return list.slice(0, maxRecipients).flatMap((recipient: unknown) => {
    const entry = fieldsAt({ entry: typeof recipient === 'string' ? { emailAddress: recipient } : recipient }, 'entry')
    const address = textAt(entry, 'emailAddress')
    return address === null
      ? []
      : [
          {
            address: withoutDisplayName(address),
            text: textAt(entry, 'diagnosticCode') ?? text,
            status: textAt(entry, 'status'),
          },
        ]
  })
}

/** SES may give an address with its display name. */
function withoutDisplayName(address: string): string {
  return /<([^<>]+)>\s*$/.exec(address)?.[1] ?? address
}

function statusIn(status: string | null): string | null {
  return /^[245]\.\d{1,3}\.\d{1,3}$/.exec(status ?? '')?.[0] ?? null
}

function firstText(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : null
}
