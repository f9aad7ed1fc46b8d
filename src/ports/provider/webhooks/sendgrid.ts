import { type KeyObject, verify } from 'node:crypto'
import {
  eventTime,
  forged,
  isRecentTimestamp,
  type JsonFields,
  malformed,
  numberAt,
  parseJsonObjects,
  parseReplyText,
  textAt,
  withoutBrackets,
} from './request-fields.ts'
import type { EventMeaning, ProviderEvent, ProviderWebhook, WebhookRequest } from './webhook.ts'

/** The unique argument in the `X-SMTPAPI` header that holds an email's id; SendGrid returns it as a field of each event. */
export const sendgridEmailIdField = 'mailroom_id'

/**
 * SendGrid's signed event webhook: ECDSA over the timestamp and the body.
 * https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features
 */
export function sendgridWebhook(key: KeyObject): ProviderWebhook {
  return {
    name: 'sendgrid',
    async read(request) {
      const timestamp = request.headers.get('x-twilio-email-event-webhook-timestamp') ?? ''
      const signature = request.headers.get('x-twilio-email-event-webhook-signature') ?? ''
      if (!isSigned(key, Buffer.concat([Buffer.from(timestamp), request.body]), signature))
        return forged('The signature is missing or wrong.')
      if (!isRecentTimestamp(timestamp, request.receivedAt)) return forged('The signature is too old or in the future.')
      const events = parseJsonObjects(request.body)
      if (!events) return malformed('The body is not a batch of events.')
      return { kind: 'events', events: events.flatMap(event => readEvent(event, request)), singleUseToken: null }
    },
  }
}

function isSigned(key: KeyObject, signed: Buffer, signature: string): boolean {
  try {
    return verify('sha256', signed, key, Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}

function readEvent(event: JsonFields, request: WebhookRequest): readonly ProviderEvent[] {
  const emailId = textAt(event, sendgridEmailIdField)
  const recipient = textAt(event, 'email')
  const key = textAt(event, 'sg_event_id')
  const meaning = meaningOf(event)
  if (emailId === null || recipient === null || key === null || !meaning) return []
  const seconds = numberAt(event, 'timestamp')
  const reply = parseReplyText(textAt(event, 'response') ?? textAt(event, 'reason'))
  return [
    {
      ...meaning,
      ...reply,
      enhancedCode: reply.enhancedCode ?? statusOf(event),
      emailId,
      recipient,
      occurredAt: eventTime(seconds === null ? null : seconds * 1000, request),
      key,
      providerMessageId: textAt(event, 'sg_message_id'),
      wireMessageId: withoutBrackets(textAt(event, 'smtp-id')),
    },
  ]
}

function statusOf(event: JsonFields): string | null {
  const status = textAt(event, 'status') ?? ''
  return /^[245]\.\d{1,3}\.\d{1,3}$/.test(status) ? status : null
}

/** https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event */
function meaningOf(event: JsonFields): EventMeaning | undefined {
  switch (textAt(event, 'event')) {
    case 'delivered':
      return { type: 'delivered', bounce: null }
    case 'deferred':
      return { type: 'delayed', bounce: null }
    case 'bounce':
      return { type: 'bounced', bounce: bounceOf(event) }
    case 'dropped':
      return { type: 'rejected', bounce: null }
    case 'spamreport':
      return { type: 'complained', bounce: null }
    case 'unsubscribe':
    case 'group_unsubscribe':
      return { type: 'unsubscribed', bounce: null }
    default:
      return undefined
  }
}

/** `blocked`: refused for now, or because of the sender. `expired`: SendGrid gave up after three days. */
function bounceOf(event: JsonFields): ProviderEvent['bounce'] {
  switch (textAt(event, 'type')) {
    case 'blocked':
      return { type: null, scope: 'infrastructure' }
    case 'expired':
      return { type: 'undetermined', scope: null }
    default:
      return { type: 'permanent', scope: scopeOf(textAt(event, 'bounce_classification')) }
  }
}

function scopeOf(classification: string | null) {
  switch (classification?.toLowerCase()) {
    case 'invalid address':
    case 'mailbox unavailable':
      return 'recipient'
    case 'content':
    case 'reputation':
    case 'technical':
    case 'technical failure':
    case 'frequency or volume too high':
      return 'infrastructure'
    default:
      return null
  }
}
