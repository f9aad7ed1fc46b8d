import type { SmtpRefusalCode } from '../../receiving/smtp-refusal.ts'

/** What MAIL or RCPT says. */
export interface ParsedPath {
  readonly kind: 'path'
  /** Between the angle brackets, as written; empty: the null reverse-path. */
  readonly address: string
  /** ESMTP parameters by their upper-case keyword; without a value: empty. */
  readonly parameters: ReadonlyMap<string, string>
}

export type PathResult = ParsedPath | { readonly kind: 'refused'; readonly code: SmtpRefusalCode }

type PathVerb = 'MAIL FROM' | 'RCPT TO'

/** How each verb words its refusals. */
const refusals = {
  'MAIL FROM': { malformed: 'sender_malformed', routed: 'sender_not_allowed' },
  'RCPT TO': { malformed: 'address_malformed', routed: 'relay_denied' },
} as const satisfies Record<PathVerb, Record<'malformed' | 'routed', SmtpRefusalCode>>

const maxAddressOctets = 254

// The brackets may hold a quoted string with anything in it.
const commandForm = /^(MAIL FROM|RCPT TO)[ \t]*:[ \t]*<((?:"(?:[^"\\]|\\.)*"|[^<>"\s])*)>((?:[ \t].*)?)$/isu
const parameterForm = /^([A-Za-z0-9][A-Za-z0-9-]*)(?:=([!-<>-~\u0080-\u{10ffff}]+))?$/u
// Control characters, invisible ones that make addresses look alike, and what stands for broken UTF-8.
const unsafe = /[\p{Cc}\u200b\u2060\ufeff\ufffd]/u
const atext = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]"
const dotAtom = new RegExp(`^${atext}+(?:\\.${atext}+)*$`, 'u')
// Japanese carriers give out local parts with dots at the end and in a row.
const dotsAnywhere = new RegExp(`^(?:${atext}|\\.)+$`, 'u')
const quotedString = /^"(?:[^"\\]|\\.)*"$/u
const domainForm = /^[A-Za-z0-9_\u0080-\u{10ffff}-]+(?:\.[A-Za-z0-9_\u0080-\u{10ffff}-]+)*$/u
const literalForm = /^\[[A-Za-z0-9:.]+\]$/

/**
 * Reads `MAIL FROM:<reverse-path> parameters` or `RCPT TO:<forward-path> parameters` (RFC 5321 §4.1.1.2, §4.1.1.3).
 * Refused are source routes, and what old gateways took for routes: `%`, `!` and a quoted `@` in the local part. An
 * address literal is taken as a reverse-path only. Non-ASCII needs SMTPUTF8 (RFC 6531), which MAIL says itself.
 */
export function parsePath(verb: PathVerb, line: string, smtputf8: boolean): PathResult {
  const { malformed } = refusals[verb]
  const match = commandForm.exec(line)
  const [, said, address = '', rest = ''] = match ?? []
  if (said?.toUpperCase() !== verb || unsafe.test(line)) return refused(malformed)
  const parameters = readParameters(rest)
  if (!parameters) return refused('parameter_malformed')
  const code = faultOf(verb, address)
  if (code) return refused(code)
  if (/[^ -~]/.test(address) && !smtputf8 && !(verb === 'MAIL FROM' && parameters.has('SMTPUTF8')))
    return refused('smtputf8_required')
  return { kind: 'path', address, parameters }
}

function refused(code: SmtpRefusalCode): PathResult {
  return { kind: 'refused', code }
}

function readParameters(text: string): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>()
  for (const each of text.split(/[ \t]+/)) {
    if (each === '') continue
    const [, keyword, value = ''] = parameterForm.exec(each) ?? []
    if (!keyword || parameters.has(keyword.toUpperCase())) return undefined
    parameters.set(keyword.toUpperCase(), value)
  }
  return parameters
}

function faultOf(verb: PathVerb, address: string): SmtpRefusalCode | undefined {
  const { malformed, routed } = refusals[verb]
  const isSender = verb === 'MAIL FROM'
  if (address === '') return isSender ? undefined : malformed
  if (address.startsWith('@')) return routed
  if (!isSender && address.toLowerCase() === 'postmaster') return undefined
  const at = address.lastIndexOf('@')
  const localPart = address.slice(0, at)
  const domain = address.slice(at + 1)
  if (at < 1 || Buffer.byteLength(address) > maxAddressOctets) return malformed
  if (quotedString.test(localPart) ? /[%!@]/.test(localPart) : /[%!]/.test(localPart)) return routed
  if (!dotAtom.test(localPart) && !quotedString.test(localPart) && !(isSender && dotsAnywhere.test(localPart)))
    return malformed
  if (literalForm.test(domain)) return isSender ? undefined : routed
  return domainForm.test(domain) ? undefined : malformed
}
