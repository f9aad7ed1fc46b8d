import type { SmtpRefusalCode } from '../../receiving/smtp-refusal.ts'

/** A parsed MAIL or RCPT command. */
export interface ParsedPath {
  readonly kind: 'path'
  /** The text between the angle brackets; empty: the null reverse-path. */
  readonly address: string
  /** ESMTP parameters by upper-case keyword; the value is empty where there is none. */
  readonly parameters: ReadonlyMap<string, string>
}

export type PathResult = ParsedPath | { readonly kind: 'refused'; readonly code: SmtpRefusalCode }

type PathVerb = 'MAIL FROM' | 'RCPT TO'

/** The refusals of each verb. */
const refusals = {
  'MAIL FROM': { malformed: 'sender_malformed', routed: 'sender_not_allowed' },
  'RCPT TO': { malformed: 'address_malformed', routed: 'relay_denied' },
} as const satisfies Record<PathVerb, Record<'malformed' | 'routed', SmtpRefusalCode>>

const maxAddressOctets = 254

// A quoted string within the brackets may contain any character.
const commandForm = /^(MAIL FROM|RCPT TO)[ \t]*:[ \t]*<((?:"(?:[^"\\]|\\.)*"|[^<>"\s])*)>((?:[ \t].*)?)$/isu
const parameterForm = /^([A-Za-z0-9][A-Za-z0-9-]*)(?:=([!-<>-~\u0080-\u{10ffff}]+))?$/u
// Control characters, invisible characters that make addresses look alike, and the replacement character of invalid UTF-8.
const unsafe = /[\p{Cc}\u200b\u2060\ufeff\ufffd]/u
const atext = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]"
const dotAtom = new RegExp(`^${atext}+(?:\\.${atext}+)*$`, 'u')
// Japanese mobile carriers have issued local parts with trailing and consecutive dots.
const dotsAnywhere = new RegExp(`^(?:${atext}|\\.)+$`, 'u')
const quotedString = /^"(?:[^"\\]|\\.)*"$/u
const domainForm = /^[A-Za-z0-9_\u0080-\u{10ffff}-]+(?:\.[A-Za-z0-9_\u0080-\u{10ffff}-]+)*$/u
const literalForm = /^\[[A-Za-z0-9:.]+\]$/

/**
 * Parses `MAIL FROM:<reverse-path> parameters` or `RCPT TO:<forward-path> parameters` (RFC 5321 §4.1.1.2, §4.1.1.3).
 * Refuses source routes, and what old gateways treated as routes: `%`, `!` and a quoted `@` in the local part. An address
 * literal is accepted in a reverse-path only. Non-ASCII needs SMTPUTF8 (RFC 6531), which may be a parameter of MAIL itself.
 */
export function parsePath(verb: PathVerb, line: string, smtputf8: boolean): PathResult {
  const { malformed } = refusals[verb]
  const match = commandForm.exec(line)
  const [, foundVerb, address = '', rest = ''] = match ?? []
  if (foundVerb?.toUpperCase() !== verb || unsafe.test(line)) return refused(malformed)
  const parameters = parseParameters(rest)
  if (!parameters) return refused('parameter_malformed')
  const code = addressError(verb, address)
  if (code) return refused(code)
  if (/[^ -~]/.test(address) && !smtputf8 && !(verb === 'MAIL FROM' && parameters.has('SMTPUTF8')))
    return refused('smtputf8_required')
  return { kind: 'path', address, parameters }
}

function refused(code: SmtpRefusalCode): PathResult {
  return { kind: 'refused', code }
}

function parseParameters(text: string): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>()
  for (const parameter of text.split(/[ \t]+/)) {
    if (parameter === '') continue
    const [, keyword, value = ''] = parameterForm.exec(parameter) ?? []
    if (!keyword || parameters.has(keyword.toUpperCase())) return undefined
    parameters.set(keyword.toUpperCase(), value)
  }
  return parameters
}

function addressError(verb: PathVerb, address: string): SmtpRefusalCode | undefined {
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
