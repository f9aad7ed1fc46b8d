import { eventTime, fieldsAt, type JsonFields, parseReplyText, textAt } from '../webhooks/request-fields.ts'
import type { ProviderBounce, ProviderEvent, WebhookRequest } from '../webhooks/webhook.ts'
import { messageIdDomain, sesEmailIdTag } from './message-id.ts'

type Arrival = Pick<WebhookRequest, 'receivedAt'>

/**
 * What an event that SES publishes says, once for each recipient it names; nothing where it does not concern a delivery or
 * an email of ours. https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
 */
export function readSesEvent(event: JsonFields, region: string, arrival: Arrival): readonly ProviderEvent[] {
  const mail = fieldsAt(event, 'mail')
  const told = tellOf(event, mail)
  const emailId = firstText(fieldsAt(mail, 'tags')[sesEmailIdTag])
  const messageId = textAt(mail, 'messageId')
  if (!told || emailId === null || messageId === null) return []
  const at = textAt(told.about, 'timestamp') ?? textAt(mail, 'timestamp')
  return told.recipients.map(({ address, said, status }) => {
    const inText = parseReplyText(said)
    return {
      type: told.type,
      bounce: told.bounce,
      ...inText,
      enhancedCode: inText.enhancedCode ?? statusIn(status),
      emailId,
      recipient: address,
      occurredAt: eventTime(at === null ? null : Date.parse(at), arrival),
      key: [told.type, messageId, address.toLowerCase(), at, textAt(told.about, 'feedbackId')].join(' '),
      providerMessageId: messageId,
      wireMessageId: `${messageId}@${messageIdDomain(region)}`,
    }
  })
}

interface SesEventSummary extends Pick<ProviderEvent, 'type' | 'bounce'> {
  readonly about: JsonFields
  readonly recipients: readonly EventRecipient[]
}

/** A recipient that an event names. */
interface EventRecipient {
  readonly address: string
  readonly said: string | null
  readonly status: string | null
}

function tellOf(event: JsonFields, mail: JsonFields): SesEventSummary | undefined {
  switch (textAt(event, 'eventType')) {
    case 'Delivery': {
      const about = fieldsAt(event, 'delivery')
      return {
        type: 'delivered',
        bounce: null,
        about,
        recipients: named(about['recipients'], textAt(about, 'smtpResponse')),
      }
    }
    case 'DeliveryDelay': {
      const about = fieldsAt(event, 'deliveryDelay')
      const recipients = named(about['delayedRecipients'], textAt(about, 'delayType'))
      return { type: 'delayed', bounce: null, about, recipients }
    }
    case 'Bounce': {
      const about = fieldsAt(event, 'bounce')
      const kind = `${textAt(about, 'bounceType')}/${textAt(about, 'bounceSubType')}`
      return { ...meaningOfBounce(about), about, recipients: named(about['bouncedRecipients'], kind) }
    }
    case 'Complaint':
      return complaint(fieldsAt(event, 'complaint'))
    case 'Reject': {
      const about = fieldsAt(event, 'reject')
      return { ...rejected, about, recipients: named(mail['destination'], textAt(about, 'reason')) }
    }
    case 'Rendering Failure': {
      const about = fieldsAt(event, 'failure')
      return { ...rejected, about, recipients: named(mail['destination'], textAt(about, 'errorMessage')) }
    }
    default:
      return undefined
  }
}

type Meaning = Pick<ProviderEvent, 'type' | 'bounce'>

const rejected: Meaning = { type: 'rejected', bounce: null }

/** What SES did not even try, for the address is on a list of its own or of the account, is its own refusal. */
function meaningOfBounce(bounce: JsonFields): Meaning {
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

/** `General` says nothing of where: the server's own words do. */
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

/** A `not-spam` report takes a complaint back (RFC 5965 §7.3 has its types), and makes none. */
function complaint(about: JsonFields): SesEventSummary | undefined {
  const feedback = textAt(about, 'complaintFeedbackType')
  if (feedback === 'not-spam') return undefined
  const isListed = textAt(about, 'complaintSubType') === 'OnAccountSuppressionList'
  const said = isListed ? 'OnAccountSuppressionList' : feedback
  const recipients = named(about['complainedRecipients'], said)
  return { ...(isListed ? rejected : { type: 'complained', bounce: null }), about, recipients }
}

/** More recipients than these no message of SES's has. */
const maxRecipients = 50

/** Recipients as SES lists them: addresses, or objects with what was said of each; else `said` counts for all. */
function named(list: unknown, said: string | null): readonly EventRecipient[] {
  if (!Array.isArray(list)) return []
  return list.slice(0, maxRecipients).flatMap((each: unknown) => {
    const entry = fieldsAt({ each: typeof each === 'string' ? { emailAddress: each } : each }, 'each')
    const address = textAt(entry, 'emailAddress')
    return address === null
      ? []
      : [{ address: bare(address), said: textAt(entry, 'diagnosticCode') ?? said, status: textAt(entry, 'status') }]
  })
}

/** SES may give an address with its display name. */
function bare(address: string): string {
  return /<([^<>]+)>\s*$/.exec(address)?.[1] ?? address
}

function statusIn(status: string | null): string | null {
  return /^[245]\.\d{1,3}\.\d{1,3}$/.exec(status ?? '')?.[0] ?? null
}

function firstText(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : null
}
