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
import type { EventMeaning, ProviderBounce, ProviderEvent, ProviderWebhook, WebhookRequest } from './webhook.ts'

/** The metadata field (`X-PM-Metadata-…`) that holds an email's id; Postmark returns it with each record. */
export const postmarkEmailIdField = 'mailroom-id'

/**
 * Postmark's webhooks for deliveries, bounces, complaints and subscriptions. They are not signed: the URL contains a secret.
 * https://postmarkapp.com/developer/webhooks/webhooks-overview
 */
export function postmarkWebhook(secret: string): ProviderWebhook {
  return {
    name: 'postmark',
    async read(request) {
      if (!carriesSecret(request, secret)) return forged('The secret is missing or wrong.')
      const events = parseJsonObjects(request.body)
      if (!events || events.some(event => textAt(event, 'RecordType') === null))
        return malformed('The body is not a record of Postmark.')
      return { kind: 'events', events: events.flatMap(event => readRecord(event, request)), singleUseToken: null }
    },
  }
}

function readRecord(record: JsonFields, request: WebhookRequest): readonly ProviderEvent[] {
  const emailId = textAt(fieldsAt(record, 'Metadata'), postmarkEmailIdField)
  const recipient = textAt(record, 'Email') ?? textAt(record, 'Recipient')
  const meaning = meaningOf(record)
  if (emailId === null || recipient === null || !meaning) return []
  const at = ['DeliveredAt', 'BouncedAt', 'ChangedAt'].map(name => textAt(record, name)).find(time => time !== null)
  const kind = [textAt(record, 'RecordType'), textAt(record, 'Type'), textAt(record, 'ID')]
  const messageId = textAt(record, 'MessageID')
  return [
    {
      ...meaning,
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

function meaningOf(record: JsonFields): EventMeaning | undefined {
  switch (textAt(record, 'RecordType')) {
    case 'Delivery':
      return { type: 'delivered', bounce: null }
    case 'SpamComplaint':
      return { type: 'complained', bounce: null }
    case 'Bounce':
      return bounceTypes[textAt(record, 'Type') ?? '']
    case 'SubscriptionChange':
      // A suppression after a bounce or complaint has a record of its own; origin `Customer` is the operator's own change.
      return record['SuppressSending'] === true &&
        textAt(record, 'SuppressionReason') === 'ManualSuppression' &&
        textAt(record, 'Origin') === 'Recipient'
        ? { type: 'unsubscribed', bounce: null }
        : undefined
    default:
      return undefined
  }
}

const bounced = (type: ProviderBounce['type'], scope: ProviderBounce['scope']): EventMeaning => ({
  type: 'bounced',
  bounce: { type, scope },
})
const delayed: EventMeaning = { type: 'delayed', bounce: null }
const rejected: EventMeaning = { type: 'rejected', bounce: null }

/**
 * Postmark's bounce types. Those that are not listed say nothing about the delivery (auto-replies, tests, inbound).
 * https://postmarkapp.com/developer/api/bounce-api#bounce-types
 */
const bounceTypes: Readonly<Record<string, EventMeaning>> = {
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
