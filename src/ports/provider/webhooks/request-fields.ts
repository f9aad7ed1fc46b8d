import { createHash, timingSafeEqual } from 'node:crypto'
import { type Instant, instantAt, millisecondsOf } from '../../../base/clock.ts'
import { findEnhancedStatus, findReplyCode } from '../../../mail/reports/enhanced-status.ts'
import { oneLine } from '../../../mail/text.ts'
import {
  maxClockAheadMs,
  maxSignatureAgeMs,
  type ProviderEvent,
  type WebhookRequest,
  type WebhookResult,
} from './webhook.ts'

/** A JSON object whose fields are not checked yet. */
export type JsonFields = Readonly<Record<string, unknown>>

function isFields(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object in the field `name`; empty where there is none. */
export function fieldsAt(fields: JsonFields, name: string): JsonFields {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return isFields(value) ? value : {}
}

/** The text in the field `name`, or a number as text; null where it is missing or empty. */
export function textAt(fields: JsonFields, name: string): string | null {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

/** The number in the field `name`, which may be written as text; null where there is none. */
export function numberAt(fields: JsonFields, name: string): number | null {
  const text = textAt(fields, name)
  const number = text === null ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : null
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** More than in any batch that a provider documents. */
const maxEvents = 10_000

/** The objects in a body that is a JSON object or an array of objects; undefined: it is neither. */
export function parseJsonObjects(body: Buffer): readonly JsonFields[] | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(body))
    const all = Array.isArray(value) ? value : [value]
    return all.length <= maxEvents && all.every(isFields) ? all : undefined
  } catch {
    return undefined
  }
}

export function malformed(why: string): WebhookResult {
  return { kind: 'malformed', why }
}

export function forged(why: string): WebhookResult {
  return { kind: 'forged', why }
}

/** Are two secrets the same? In constant time. */
export function isSameSecret(given: string, secret: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given), hash(secret))
}

/**
 * Does the request carry the secret: as a bearer token (RFC 6750), as the password of basic authentication (RFC 7617),
 * which is how a password in the URL arrives, or as `?token=`?
 */
export function carriesSecret({ headers, query }: WebhookRequest, secret: string): boolean {
  const [, scheme = '', credentials = ''] = /^(\S+) +(\S+)\s*$/.exec(headers.get('authorization') ?? '') ?? []
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return isSameSecret(credentials, secret)
    case 'basic': {
      const [, password] = /:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? []
      return password !== undefined && isSameSecret(password, secret)
    }
    default:
      return isSameSecret(query.get('token') ?? '', secret)
  }
}

/** Is a signed timestamp (seconds since 1970) close enough to the arrival of the request? */
export function isRecentTimestamp(seconds: string, receivedAt: Instant): boolean {
  if (!/^\d{9,11}$/.test(seconds)) return false
  const ageMs = millisecondsOf(receivedAt) - Number(seconds) * 1000
  return ageMs <= maxSignatureAgeMs && ageMs >= -maxClockAheadMs
}

const earliestMs = Date.UTC(2000, 0)

/** When an event happened (milliseconds since 1970); the arrival of the request where the provider gives no possible time. */
export function eventTime(ms: number | null, { receivedAt }: Pick<WebhookRequest, 'receivedAt'>): Instant {
  const arrivedMs = millisecondsOf(receivedAt)
  if (ms === null || Number.isNaN(ms) || ms < earliestMs || ms > arrivedMs) return receivedAt
  return instantAt(Math.floor(ms) * 1000)
}

const maxDetail = 500

/** A server's reply on one line, with the codes that are in it. */
export function parseReplyText(text: string | null): Pick<ProviderEvent, 'smtpCode' | 'enhancedCode' | 'detail'> {
  const detail = oneLine(text ?? '').slice(0, maxDetail)
  return {
    smtpCode: findReplyCode(detail),
    enhancedCode: findEnhancedStatus(detail),
    detail: detail || null,
  }
}

/** A Message-ID without its angle brackets. */
export function withoutBrackets(messageId: string | null): string | null {
  return messageId?.replace(/^\s*<|>\s*$/g, '') || null
}
