import { type Instant, millisecondsOf } from '../base/clock.ts'
import { formatDate } from './date.ts'
import { bodyStart, dropFields, type HeaderField } from './header.ts'

/** The result of one check, in the keywords of RFC 8601 §2.7. */
export interface CheckResult {
  readonly result: string
  readonly domain: string | null
  readonly detail: string | null
}

/** How a message was received for one recipient: the source of its trace header fields (RFC 5321 §4.4). */
export interface DeliveryTrace {
  /** The hostname of this instance, which is also the authserv-id (RFC 8601 §2.5). */
  readonly hostname: string
  readonly id: string
  readonly receivedAt: Instant
  /** The reverse-path; empty: the null reverse-path. */
  readonly mailFrom: string
  readonly rcptTo: string
  readonly remoteIp: string
  readonly helo: string
  /** TLS protocol and cipher; null: without TLS. */
  readonly tls: string | null
  readonly smtputf8: boolean
  readonly results: { readonly [Method in 'spf' | 'dkim' | 'dmarc' | 'arc']: CheckResult }
}

/** Return-Path, Received and Authentication-Results for one recipient; no other is named (RFC 5321 §4.4, RFC 8601 §2.2). */
export function traceHeaders(delivery: DeliveryTrace): string {
  return `${returnPath(delivery)}${received(delivery)}${authenticationResults(delivery)}`
}

function returnPath({ mailFrom }: DeliveryTrace): string {
  return `Return-Path: <${plain(mailFrom)}>\r\n`
}

function received({ hostname, id, receivedAt, rcptTo, remoteIp, helo, tls, smtputf8 }: DeliveryTrace): string {
  const ip = remoteIp.includes(':') ? `IPv6:${remoteIp}` : remoteIp
  // RFC 3848 and RFC 6531 §4.3.
  const protocol = smtputf8 ? (tls ? 'UTF8SMTPS' : 'UTF8SMTP') : tls ? 'ESMTPS' : 'ESMTP'
  const date = formatDate(millisecondsOf(receivedAt))
  return [
    `Received: from ${plain(helo).replace(/[\s()<>;]+/g, '_') || 'unknown'} ([${plain(ip)}])`,
    ` by ${plain(hostname)} with ${protocol}${tls ? ` (${comment(tls)})` : ''} id ${id}`,
    ` for <${plain(rcptTo)}>; ${date}`,
    '',
  ].join('\r\n')
}

const properties = { spf: 'smtp.mailfrom', dkim: 'header.d', dmarc: 'header.from', arc: 'arc.sealer' } as const

function authenticationResults({ hostname, results }: DeliveryTrace): string {
  const checks = (['spf', 'dkim', 'dmarc', 'arc'] as const).map(method => {
    const { result, domain, detail } = results[method]
    const property = domain === null || domain === '' ? '' : ` ${properties[method]}=${pvalue(domain)}`
    return `\r\n ${method}=${plain(result)}${detail ? ` (${comment(detail)})` : ''}${property}`
  })
  return `Authentication-Results: ${plain(hostname)};${checks.join(';')}\r\n`
}

/** Without control characters, so that nothing that a client sends can begin another header field. */
function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}

function comment(text: string): string {
  return plain(text)
    .slice(0, 300)
    .replace(/[()\\]/g, ' ')
}

/** A token (RFC 2045 §5.1), or else a quoted string. */
function pvalue(text: string): string {
  const value = plain(text).slice(0, 255)
  return /^[^\s()<>@,;:\\"/[\]?=]+$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
}

const maxHead = 1024 * 1024

/**
 * The message with its trace fields: `traceFields`, then its bytes without the Authentication-Results fields that bear our
 * hostname (RFC 8601 §5). Of a header longer than 1 MiB only the first MiB is searched for them.
 */
export async function* withTraceHeaders(
  message: AsyncIterable<Buffer>,
  traceFields: string,
  hostname: string,
): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0)
  yield Buffer.from(traceFields)
  for await (const piece of message) {
    if (!head) {
      yield piece
      continue
    }
    head = Buffer.concat([head, piece])
    const start = bodyStart(head)
    if (start === null && head.length < maxHead) continue
    yield dropOwnAuthenticationResults(head.subarray(0, start ?? head.length), hostname)
    if (start !== null) yield head.subarray(start)
    head = null
  }
  if (head) yield dropOwnAuthenticationResults(head, hostname)
}

/** The header without the Authentication-Results fields whose authserv-id is `hostname`; the rest stays byte for byte. */
export function dropOwnAuthenticationResults(head: Buffer, hostname: string): Buffer {
  return dropFields(head, ({ key, line }) =>
    isOwnAuthenticationResults({ name: key, value: line.slice(line.indexOf(':') + 1) }, hostname),
  )
}

/** Whether it is an Authentication-Results field whose authserv-id is `hostname`. */
export function isOwnAuthenticationResults({ name, value }: HeaderField, hostname: string): boolean {
  return name.toLowerCase() === 'authentication-results' && authservId(value) === hostname.toLowerCase()
}

/** The authserv-id at the start of a field's value, in lower case; comments before it are skipped. */
function authservId(value: string): string {
  const from = skipComments(value)
  const rest = value.slice(from, from + 1024)
  const quoted = /^"((?:[^"\\]|\\.)*)"/s.exec(rest)
  const id = quoted ? (quoted[1] ?? '').replace(/\\(.)/gs, '$1') : (/^[^\s;(]+/.exec(rest)?.[0] ?? '')
  return id.toLowerCase()
}

/** The offset of the first character that is neither white space nor in a comment (RFC 5322 §3.2.2; comments nest). */
function skipComments(value: string): number {
  let depth = 0
  for (let at = 0; at < value.length; at++) {
    const character = value.charAt(at)
    if (character === '\\' && depth > 0) at++
    else if (character === '(') depth++
    else if (character === ')' && depth > 0) depth--
    else if (depth === 0 && !/\s/.test(character)) return at
  }
  return value.length
}
