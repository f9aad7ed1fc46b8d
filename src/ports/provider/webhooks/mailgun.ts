import { createHmac } from 'node:crypto'
import {
  eventTime,
  fieldsAt,
  forged,
  isRecentTimestamp,
  isSameSecret,
  type JsonFields,
  malformed,
  numberAt,
  parseJsonObjects,
  parseReplyText,
  textAt,
  withoutBrackets,
} from './request-fields.ts'
import type { EventMeaning, ProviderEvent, ProviderWebhook, WebhookRequest } from './webhook.ts'

/** The variable in the `X-Mailgun-Variables` header that holds an email's id; Mailgun returns it with each event. */
export const mailgunEmailIdField = 'mailroom-id'

/**
 * Mailgun's webhooks. The signature covers a timestamp and a token but not the event, so each token is accepted with one
 * body only. https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks
 */
export function mailgunWebhook(signingKey: string): ProviderWebhook {
  return {
    name: 'mailgun',
    async read(request) {
      const [body, ...more] = parseJsonObjects(request.body) ?? []
      if (!body || more.length > 0) return forged('The body is not an event of Mailgun.')
      const signature = fieldsAt(body, 'signature')
      const timestamp = textAt(signature, 'timestamp') ?? ''
      const token = textAt(signature, 'token') ?? ''
      const expected = createHmac('sha256', signingKey).update(timestamp).update(token).digest('hex')
      if (token === '' || !isSameSecret(textAt(signature, 'signature') ?? '', expected))
        return forged('The signature is missing or wrong.')
      if (!isRecentTimestamp(timestamp, request.receivedAt)) return forged('The signature is too old or in the future.')
      const event = fieldsAt(body, 'event-data')
      if (textAt(event, 'event') === null) return malformed('The event-data is missing.')
      return { kind: 'events', events: readEvent(event, request), singleUseToken: token }
    },
  }
}

function readEvent(event: JsonFields, request: WebhookRequest): readonly ProviderEvent[] {
  const emailId = textAt(fieldsAt(event, 'user-variables'), mailgunEmailIdField)
  const headers = fieldsAt(fieldsAt(event, 'message'), 'headers')
  const recipient = textAt(event, 'recipient') ?? textAt(headers, 'to')
  const meaning = meaningOf(event)
  if (emailId === null || recipient === null || !meaning) return []
  const seconds = numberAt(event, 'timestamp')
  const messageId = withoutBrackets(textAt(headers, 'message-id'))
  return [
    {
      ...meaning,
      ...replyOf(event),
      emailId,
      recipient,
      occurredAt: eventTime(seconds === null ? null : seconds * 1000, request),
      // An event's id is unique for a day only.
      key: [textAt(event, 'id'), seconds, meaning.type, recipient.toLowerCase()].join(' '),
      providerMessageId: messageId,
      wireMessageId: messageId,
    },
  ]
}

function meaningOf(event: JsonFields): EventMeaning | undefined {
  switch (textAt(event, 'event')) {
    case 'delivered':
      return { type: 'delivered', bounce: null }
    case 'complained':
      return { type: 'complained', bounce: null }
    case 'unsubscribed':
      return { type: 'unsubscribed', bounce: null }
    case 'rejected':
      return { type: 'rejected', bounce: null }
    case 'failed':
      return textAt(event, 'severity') === 'temporary' ? { type: 'delayed', bounce: null } : failed(event)
    default:
      return undefined
  }
}

/** A permanent failure. An address on a suppression list of Mailgun's was not tried: Mailgun rejected it. */
function failed(event: JsonFields): EventMeaning {
  const reason = textAt(event, 'reason') ?? ''
  if (reason.startsWith('suppress-')) return { type: 'rejected', bounce: null }
  if (reason === 'old') return { type: 'bounced', bounce: { type: 'undetermined', scope: null } }
  if (reason === 'espblock') return { type: 'bounced', bounce: { type: 'permanent', scope: 'infrastructure' } }
  const isSoft = textAt(fieldsAt(event, 'delivery-status'), 'bounce-type') === 'soft'
  const type = isSoft ? 'transient' : 'permanent'
  return { type: 'bounced', bounce: { type, scope: reason === 'bounce' && !isSoft ? 'recipient' : null } }
}

/** The reply of the recipient's server. Codes of Mailgun's own (6xx, 498, 499) are not replies of a server. */
function replyOf(event: JsonFields) {
  const status = fieldsAt(event, 'delivery-status')
  const text = textAt(status, 'message') ?? textAt(status, 'description') ?? textAt(fieldsAt(event, 'reject'), 'reason')
  const code = numberAt(status, 'code')
  const inText = parseReplyText(text)
  return {
    ...inText,
    smtpCode: code !== null && /^[245][0-5]\d$/.test(String(code)) ? code : inText.smtpCode,
    enhancedCode: /^[245]\.\d{1,3}\.\d{1,3}$/.exec(textAt(status, 'enhanced-code') ?? '')?.[0] ?? inText.enhancedCode,
  }
}
