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

/** Gets what an address of Amazon's holds; null: its answer is not a good one. Throws when there is none. */
export type FetchText = (url: string) => Promise<string | null>

export interface SnsOptions {
  /** `arn:aws:sns:<region>:<account>:<name>`: anyone may sign with SNS, so that only this topic's word counts. */
  readonly topicArn: string
  readonly fetchText: FetchText
}

const maxCertificates = 8

/**
 * What SES publishes to a topic of SNS that is subscribed by HTTPS. A signature proves SNS, and the topic in it our account.
 * The subscription is confirmed when SNS asks for that.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */
export function snsWebhook({ topicArn, fetchText }: SnsOptions): ProviderWebhook {
  const region = regionOf(topicArn)
  const host = `sns.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  const certificates = new Map<string, X509Certificate>()

  async function certificateAt(url: string): Promise<X509Certificate | null> {
    const known = certificates.get(url)
    if (known) return known
    const pem = await reached(fetchText, url)
    const certificate = pem === null ? null : readCertificate(pem)
    if (certificate && certificates.size < maxCertificates) certificates.set(url, certificate)
    return certificate
  }

  async function whyForged(message: JsonFields, request: WebhookRequest): Promise<string | null> {
    if (textAt(message, 'TopicArn') !== topicArn) return 'It is not of our topic.'
    if (!isRecent(textAt(message, 'Timestamp'), request)) return 'The message is of another time.'
    const url = textAt(message, 'SigningCertURL') ?? ''
    if (!isCertificateUrl(url, host)) return 'The certificate is not at a place of Amazon’s.'
    const certificate = await certificateAt(url)
    if (!certificate || !isValidAt(certificate, request)) return 'There is no valid certificate.'
    return isSigned(message, certificate) ? null : 'The signature is absent or wrong.'
  }

  async function confirm(message: JsonFields): Promise<WebhookResult> {
    const url = textAt(message, 'SubscribeURL') ?? ''
    if (!isBelow(url, host)) return malformed('The subscription is confirmed at no place of Amazon’s.')
    if ((await reached(fetchText, url)) === null) return malformed('SNS did not take the confirmation.')
    return nothing
  }

  return {
    name: 'ses',
    async read(request) {
      const [message, ...more] = parseJsonObjects(request.body) ?? []
      if (!message || more.length > 0) return forged('The body is no message of SNS.')
      const why = await whyForged(message, request)
      if (why !== null) return forged(why)
      switch (textAt(message, 'Type')) {
        case 'SubscriptionConfirmation':
          return confirm(message)
        case 'Notification':
          return readNotification(message, region, request)
        default:
          return nothing
      }
    },
  }
}

const nothing: WebhookResult = { kind: 'news', news: [], once: null }

function readNotification(message: JsonFields, region: string, request: WebhookRequest): WebhookResult {
  const text = textAt(message, 'Message') ?? ''
  const events = parseJsonObjects(Buffer.from(text))
  // SES says in plain text that it may publish here.
  if (!events) return text.startsWith('{') ? malformed('The message is no event of SES.') : nothing
  return { kind: 'news', news: events.flatMap(event => readSesEvent(event, region, request)), once: null }
}

function regionOf(topicArn: string): string {
  return topicArn.split(':')[3] ?? ''
}

/** @throws Refusal `unavailable` where Amazon cannot be reached: SNS says it again. */
async function reached(get: FetchText, url: string): Promise<string | null> {
  try {
    return await get(url)
  } catch (cause) {
    throw refuse('unavailable', { message: 'Amazon SNS cannot be reached now.', retryAfterSeconds: 20, cause })
  }
}

function isBelow(url: string, host: string): boolean {
  const parsed = URL.parse(url)
  return parsed?.protocol === 'https:' && parsed.host === host && parsed.username === '' && parsed.password === ''
}

function isCertificateUrl(url: string, host: string): boolean {
  return isBelow(url, host) && /^https:\/\/[^/]+\/SimpleNotificationService-[0-9a-zA-Z]{1,64}\.pem$/.test(url)
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

/** Name and value on a line each; a field that is absent is left out. */
function signedText(message: JsonFields): string {
  const names =
    textAt(message, 'Type') === 'Notification' ? signedFields.Notification : signedFields.SubscriptionConfirmation
  return names
    .filter(name => typeof message[name] === 'string')
    .map(name => `${name}\n${message[name]}\n`)
    .join('')
}
