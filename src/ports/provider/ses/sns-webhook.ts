import { verify, X509Certificate } from 'node:crypto'
import { millisecondsOf } from '../../../base/clock.ts'
import { refuse } from '../../../base/refusal.ts'
import { forged, type JsonFields, malformed, parseJsonObjects, textAt } from '../webhooks/request-fields.ts'
import {
  maxClockAheadMs,
  maxSignatureAgeMs,
  type ProviderWebhook,
  type WebhookRequest,
  type WebhookResult,
} from '../webhooks/webhook.ts'
import { readSesEvent } from './events.ts'

/** Fetches a URL at Amazon; null: the response is not 2xx. @throws when there is no response */
export type FetchText = (url: string) => Promise<string | null>

export interface SnsOptions {
  /** `arn:aws:sns:<region>:<account>:<name>`: anyone can have SNS sign messages, so only those of this topic count. */
  readonly topicArn: string
  readonly fetchText: FetchText
}

const maxCertificates = 8

/**
 * The events that SES publishes to an SNS topic with an HTTPS subscription. The signature proves SNS, and the topic that it
 * covers proves our account. The subscription is confirmed when SNS asks for that.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */
export function snsWebhook({ topicArn, fetchText }: SnsOptions): ProviderWebhook {
  const region = regionOf(topicArn)
  const host = `sns.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  const certificates = new Map<string, X509Certificate>()

  async function certificateAt(url: string): Promise<X509Certificate | null> {
    const known = certificates.get(url)
    if (known) return known
    const pem = await fetchFromAmazon(fetchText, url)
    const certificate = pem === null ? null : readCertificate(pem)
    if (certificate && certificates.size < maxCertificates) certificates.set(url, certificate)
    return certificate
  }

  async function findForgery(message: JsonFields, request: WebhookRequest): Promise<string | null> {
    if (textAt(message, 'TopicArn') !== topicArn) return 'The message is not from our topic.'
    if (!isRecent(textAt(message, 'Timestamp'), request)) return 'The message is too old or in the future.'
    const url = textAt(message, 'SigningCertURL') ?? ''
    if (!isCertificateUrl(url, host)) return 'The certificate URL is not at Amazon.'
    const certificate = await certificateAt(url)
    if (!certificate || !isValidAt(certificate, request)) return 'The certificate is missing or not valid.'
    return isSigned(message, certificate) ? null : 'The signature is missing or wrong.'
  }

  async function confirm(message: JsonFields): Promise<WebhookResult> {
    const url = textAt(message, 'SubscribeURL') ?? ''
    if (!isAtAmazon(url, host)) return malformed('The subscription URL is not at Amazon.')
    if ((await fetchFromAmazon(fetchText, url)) === null) return malformed('SNS refused the confirmation.')
    return noEvents
  }

  return {
    name: 'ses',
    async read(request) {
      const [message, ...more] = parseJsonObjects(request.body) ?? []
      if (!message || more.length > 0) return forged('The body is not a message of SNS.')
      const forgery = await findForgery(message, request)
      if (forgery !== null) return forged(forgery)
      switch (textAt(message, 'Type')) {
        case 'SubscriptionConfirmation':
          return confirm(message)
        case 'Notification':
          return readNotification(message, region, request)
        default:
          return noEvents
      }
    },
  }
}

const noEvents: WebhookResult = { kind: 'events', events: [], singleUseToken: null }

function readNotification(message: JsonFields, region: string, request: WebhookRequest): WebhookResult {
  const text = textAt(message, 'Message') ?? ''
  const events = parseJsonObjects(Buffer.from(text))
  // SES sends a plain text when it is allowed to publish to the topic.
  if (!events) return text.startsWith('{') ? malformed('The message is not an event of SES.') : noEvents
  return { kind: 'events', events: events.flatMap(event => readSesEvent(event, region, request)), singleUseToken: null }
}

function regionOf(topicArn: string): string {
  return topicArn.split(':')[3] ?? ''
}

/** @throws Refusal `unavailable` when Amazon cannot be reached: SNS retries the request then. */
async function fetchFromAmazon(fetchText: FetchText, url: string): Promise<string | null> {
  try {
    return await fetchText(url)
  } catch (cause) {
    throw refuse('unavailable', { message: 'Amazon SNS cannot be reached now.', retryAfterSeconds: 20, cause })
  }
}

function isAtAmazon(url: string, host: string): boolean {
  const parsed = URL.parse(url)
  return parsed?.protocol === 'https:' && parsed.host === host && parsed.username === '' && parsed.password === ''
}

function isCertificateUrl(url: string, host: string): boolean {
  return isAtAmazon(url, host) && /^https:\/\/[^/]+\/SimpleNotificationService-[0-9a-zA-Z]{1,64}\.pem$/.test(url)
}

function isRecent(timestamp: string | null, { receivedAt }: WebhookRequest): boolean {
  const ageMs = millisecondsOf(receivedAt) - Date.parse(timestamp ?? '')
  return ageMs <= maxSignatureAgeMs && ageMs >= -maxClockAheadMs
}

function readCertificate(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem)
  } catch {
    return null
  }
}

function isValidAt({ validFrom, validTo }: X509Certificate, { receivedAt }: WebhookRequest): boolean {
  const ms = millisecondsOf(receivedAt)
  return Date.parse(validFrom) <= ms && ms <= Date.parse(validTo)
}

const signedFields = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const

function hashOf(signatureVersion: string | null): 'sha1' | 'sha256' | undefined {
  if (signatureVersion === '1') return 'sha1'
  return signatureVersion === '2' ? 'sha256' : undefined
}

function isSigned(message: JsonFields, certificate: X509Certificate): boolean {
  const hash = hashOf(textAt(message, 'SignatureVersion'))
  if (!hash) return false
  try {
    const signature = Buffer.from(textAt(message, 'Signature') ?? '', 'base64')
    return verify(hash, Buffer.from(signedText(message)), certificate.publicKey, signature)
  } catch {
    return false
  }
}

/** The text that SNS signs: name and value of each field, each on a line; fields that are missing are left out. */
function signedText(message: JsonFields): string {
  const names =
    textAt(message, 'Type') === 'Notification' ? signedFields.Notification : signedFields.SubscriptionConfirmation
  return names
    .filter(name => typeof message[name] === 'string')
    .map(name => `${name}\n${message[name]}\n`)
    .join('')
}
