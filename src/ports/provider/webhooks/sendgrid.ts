import { type KeyObject, verify } from 'node:crypto'
import {
  type Fields,
  forged,
  isFresh,
  malformed,
  numberAt,
  quoted,
  readEvents,
  textAt,
  timeOf,
  withoutBrackets,
} from './fields.ts'
import type { ProviderNews, ProviderWebhook, WebhookRequest } from './webhook.ts'

/** The name under which an email's id goes along in `X-SMTPAPI`, and comes back among an event's own fields. */
export const sendgridIdName = 'mailroom_id'

/**
 * SendGrid's signed event webhook: ECDSA over the time and the body.
 * https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features
 */
export function sendgridWebhook(key: KeyObject): ProviderWebhook {
  return {
    name: 'sendgrid',
    async read(request) {
      const timestamp = request.headers.get('x-twilio-email-event-webhook-timestamp') ?? ''
      const signature = request.headers.get('x-twilio-email-event-webhook-signature') ?? ''
      if (!isSigned(key, Buffer.concat([Buffer.from(timestamp), request.body]), signature))
        return forged('The signature is absent or wrong.')
      if (!isFresh(timestamp, request.receivedAt)) return forged('The signature is of another time.')
      const events = readEvents(request.body)
      if (!events) return malformed('The body is no batch of events.')
      return { kind: 'news', news: events.flatMap(event => readEvent(event, request)), once: null }
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

function readEvent(event: Fields, request: WebhookRequest): readonly ProviderNews[] {
  const emailId = textAt(event, sendgridIdName)
  const recipient = textAt(event, 'email')
  const key = textAt(event, 'sg_event_id')
  const told = meaningOf(event)
  if (emailId === null || recipient === null || key === null || !told) return []
  const seconds = numberAt(event, 'timestamp')
  const said = quoted(textAt(event, 'response') ?? textAt(event, 'reason'))
  return [
    {
      ...told,
      ...said,
      enhancedCode: said.enhancedCode ?? statusOf(event),
      emailId,
      recipient,
      occurredAt: timeOf(seconds === null ? null : seconds * 1000, request),
      key,
      providerMessageId: textAt(event, 'sg_message_id'),
      wireMessageId: withoutBrackets(textAt(event, 'smtp-id')),
    },
  ]
}

function statusOf(event: Fields): string | null {
  const status = textAt(event, 'status') ?? ''
  return /^[245]\.\d{1,3}\.\d{1,3}$/.test(status) ? status : null
}

type Meaning = Pick<ProviderNews, 'type' | 'bounce'>

/** https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event */
function meaningOf(event: Fields): Meaning | undefined {
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

/** `blocked`: refused for the moment or for what we are. `expired`: tried for three days. */
function bounceOf(event: Fields): ProviderNews['bounce'] {
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
