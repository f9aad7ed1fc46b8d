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
import type { ProviderBounce, ProviderEvent, ProviderWebhook, WebhookRequest } from './webhook.ts'

/** The name under which an email's id goes along in `X-Mailin-custom`, which comes back whole. */
export const brevoEmailIdField = 'mailroom-id'

/**
 * Brevo's transactional webhooks, one event or a batch. They are not signed: a token goes with them.
 * https://developers.brevo.com/docs/transactional-webhooks
 */
export function brevoWebhook(token: string): ProviderWebhook {
  return {
    name: 'brevo',
    async read(request) {
      if (!carriesSecret(request, token)) return forged('The token is absent or another.')
      const events = parseJsonObjects(request.body)
      if (!events || events.some(event => textAt(event, 'event') === null))
        return malformed('The body is no event of Brevo.')
      return { kind: 'news', news: events.flatMap(event => readEvent(event, request)), once: null }
    },
  }
}

function readEvent(event: JsonFields, request: WebhookRequest): readonly ProviderEvent[] {
  const name = textAt(event, 'event') ?? ''
  const told = Object.hasOwn(meanings, name) ? meanings[name] : undefined
  const emailId = emailIdIn(textAt(event, 'X-Mailin-custom'))
  const recipient = textAt(event, 'email')
  if (emailId === null || recipient === null || !told) return []
  // `date` and `ts` are in the account's time zone, and there is no name of the event.
  const ms = numberAt(event, 'ts_epoch')
  const seconds = numberAt(event, 'ts_event')
  const messageId = withoutBrackets(textAt(event, 'message-id'))
  return [
    {
      ...told,
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

/** Brevo gives the field back as it was written, or as pairs of its own making. */
function emailIdIn(custom: string | null): string | null {
  return /\beml_[0-9a-z]{26}\b/.exec(custom ?? '')?.[0] ?? null
}

type Meaning = Pick<ProviderEvent, 'type' | 'bounce'>

const bounced = (type: ProviderBounce['type'], scope: ProviderBounce['scope']): Meaning => ({
  type: 'bounced',
  bounce: { type, scope },
})

/** What is left out tells nothing of a delivery (`request`, opens, clicks). */
const meanings: Readonly<Record<string, Meaning>> = {
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
