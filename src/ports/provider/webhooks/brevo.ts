import {
  carriesSecret,
  eventTime,
  forged,
  type JsonFields,
  malformed,
  numberAt,
  parseJsonObjects,
  parseReplyText,
  textAt,
  withoutBrackets,
} from './request-fields.ts'
import type { EventMeaning, ProviderBounce, ProviderEvent, ProviderWebhook, WebhookRequest } from './webhook.ts'

/** The field of the `X-Mailin-custom` header that holds an email's id; Brevo returns the header with each event. */
export const brevoEmailIdField = 'mailroom-id'

/**
 * Brevo's transactional webhooks, one event or a batch. They are not signed: each request carries a token.
 * https://developers.brevo.com/docs/transactional-webhooks
 */
export function brevoWebhook(token: string): ProviderWebhook {
  return {
    name: 'brevo',
    async read(request) {
      if (!carriesSecret(request, token)) return forged('The token is missing or wrong.')
      const events = parseJsonObjects(request.body)
      if (!events || events.some(event => textAt(event, 'event') === null))
        return malformed('The body is not an event of Brevo.')
      return { kind: 'events', events: events.flatMap(event => readEvent(event, request)), singleUseToken: null }
    },
  }
}

function readEvent(event: JsonFields, request: WebhookRequest): readonly ProviderEvent[] {
  const name = textAt(event, 'event') ?? ''
  const meaning = Object.hasOwn(meanings, name) ? meanings[name] : undefined
  const emailId = emailIdIn(textAt(event, 'X-Mailin-custom'))
  const recipient = textAt(event, 'email')
  if (emailId === null || recipient === null || !meaning) return []
  // `date` and `ts` are in the account's time zone. Events have no id.
  const ms = numberAt(event, 'ts_epoch')
  const seconds = numberAt(event, 'ts_event')
  const messageId = withoutBrackets(textAt(event, 'message-id'))
  return [
    {
      ...meaning,
      ...parseReplyText(textAt(event, 'reason')),
      emailId,
      recipient,
      occurredAt: eventTime(ms ?? (seconds === null ? null : seconds * 1000), request),
      key: [name, messageId, recipient.toLowerCase(), ms, seconds].join(' '),
      providerMessageId: messageId,
      wireMessageId: messageId,
    },
  ]
}

/** Brevo returns the header as it was written, or split into pairs. */
function emailIdIn(custom: string | null): string | null {
  return /\beml_[0-9a-z]{26}\b/.exec(custom ?? '')?.[0] ?? null
}

const bounced = (type: ProviderBounce['type'], scope: ProviderBounce['scope']): EventMeaning => ({
  type: 'bounced',
  bounce: { type, scope },
})

/** Events that are not listed say nothing about the delivery (`request`, opens, clicks). */
const meanings: Readonly<Record<string, EventMeaning>> = {
  delivered: { type: 'delivered', bounce: null },
  deferred: { type: 'delayed', bounce: null },
  hard_bounce: bounced('permanent', 'recipient'),
  soft_bounce: bounced('transient', null),
  invalid_email: bounced('permanent', 'recipient'),
  blocked: { type: 'rejected', bounce: null },
  error: { type: 'rejected', bounce: null },
  spam: { type: 'complained', bounce: null },
  complaint: { type: 'complained', bounce: null },
  unsubscribed: { type: 'unsubscribed', bounce: null },
  unsubscribe: { type: 'unsubscribed', bounce: null },
}
