import {
  carriesSecret,
  eventTime,
  fieldsAt,
  forged,
  type JsonFields,
  malformed,
  parseJsonObjects,
  parseReplyText,
  textAt,
} from './request-fields.ts'
import type { ProviderBounce, ProviderEvent, ProviderWebhook, WebhookRequest } from './webhook.ts'

/** The name under which an email's id goes along as metadata (`X-PM-Metadata-…`), and comes back. */
export const postmarkEmailIdField = 'mailroom-id'

/**
 * Postmark's webhooks for deliveries, bounces, complaints and subscriptions. They are not signed: the URL holds a secret.
 * https://postmarkapp.com/developer/webhooks/webhooks-overview
 */
export function postmarkWebhook(secret: string): ProviderWebhook {
  return {
    name: 'postmark',
    async read(request) {
      if (!carriesSecret(request, secret)) return forged('The secret is absent or another.')
      const events = parseJsonObjects(request.body)
      if (!events || events.some(event => textAt(event, 'RecordType') === null))
        return malformed('The body is no record of Postmark.')
      return { kind: 'news', news: events.flatMap(event => readRecord(event, request)), once: null }
    },
  }
}

function readRecord(record: JsonFields, request: WebhookRequest): readonly ProviderEvent[] {
  const emailId = textAt(fieldsAt(record, 'Metadata'), postmarkEmailIdField)
  const recipient = textAt(record, 'Email') ?? textAt(record, 'Recipient')
  const told = meaningOf(record)
  if (emailId === null || recipient === null || !told) return []
  const at = ['DeliveredAt', 'BouncedAt', 'ChangedAt'].map(name => textAt(record, name)).find(each => each !== null)
  const kind = [textAt(record, 'RecordType'), textAt(record, 'Type'), textAt(record, 'ID')]
  const messageId = textAt(record, 'MessageID')
  return [
    {
      ...told,
      emailId,
      recipient,
      occurredAt: eventTime(at ? Date.parse(at) : null, request),
      key: [...kind, messageId, recipient.toLowerCase(), at].join(' '),
      ...parseReplyText(textAt(record, 'Details') ?? textAt(record, 'Description')),
      providerMessageId: messageId,
      wireMessageId: null,
    },
  ]
}

type Meaning = Pick<ProviderEvent, 'type' | 'bounce'>

function meaningOf(record: JsonFields): Meaning | undefined {
  switch (textAt(record, 'RecordType')) {
    case 'Delivery':
      return { type: 'delivered', bounce: null }
    case 'SpamComplaint':
      return { type: 'complained', bounce: null }
    case 'Bounce':
      return bounceTypes[textAt(record, 'Type') ?? '']
    case 'SubscriptionChange':
      // What follows from a bounce or a complaint is told by their own records; `Customer` is the operator's own doing.
      return record['SuppressSending'] === true &&
        textAt(record, 'SuppressionReason') === 'ManualSuppression' &&
        textAt(record, 'Origin') === 'Recipient'
        ? { type: 'unsubscribed', bounce: null }
        : undefined
    default:
      return undefined
  }
}

const bounced = (type: ProviderBounce['type'], scope: ProviderBounce['scope']): Meaning => ({
  type: 'bounced',
  bounce: { type, scope },
})
const delayed: Meaning = { type: 'delayed', bounce: null }
const rejected: Meaning = { type: 'rejected', bounce: null }

/**
 * Postmark's types of bounces; those left out tell nothing of a delivery (automatic answers, tests, inbound).
 * https://postmarkapp.com/developer/api/bounce-api#bounce-types
 */
const bounceTypes: Readonly<Record<string, Meaning>> = {
  HardBounce: bounced('permanent', 'recipient'),
  BadEmailAddress: bounced('permanent', 'recipient'),
  SoftBounce: bounced('transient', null),
  Unknown: bounced('undetermined', null),
  Blocked: bounced('permanent', 'infrastructure'),
  DMARCPolicy: bounced('permanent', 'infrastructure'),
  SpamNotification: bounced('permanent', 'infrastructure'),
  VirusNotification: bounced('permanent', 'infrastructure'),
  Transient: delayed,
  DnsError: delayed,
  ManuallyDeactivated: rejected,
  Unconfirmed: rejected,
  SMTPApiError: rejected,
  TemplateRenderingFailed: rejected,
  SpamComplaint: { type: 'complained', bounce: null },
  Unsubscribe: { type: 'unsubscribed', bounce: null },
}
