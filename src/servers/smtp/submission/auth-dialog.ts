import type { SmtpRefusalCode } from '../../../receiving/smtp-refusal.ts'

/** A step of AUTH: a prompt, whose answer leads to the next step, or the end. */
export type AuthStep =
  | {
      readonly kind: 'prompt'
      /** The text of the reply 334: base64, or empty. */
      readonly text: string
      readonly next: (line: string) => AuthStep
    }
  | { readonly kind: 'credentials'; readonly password: string }
  | { readonly kind: 'refused'; readonly code: SmtpRefusalCode }

/** The mechanisms, as EHLO lists them. */
export const authMechanisms = ['PLAIN', 'LOGIN'] as const

const userPrompt = Buffer.from('Username:').toString('base64')
const passwordPrompt = Buffer.from('Password:').toString('base64')

/**
 * The first step of `AUTH mechanism [initial-response]` (RFC 4954 §4): PLAIN (RFC 4616), or LOGIN, which no standard
 * describes and many programs use. Any user name will do.
 */
export function beginAuth(line: string): AuthStep {
  const [, mechanism = '', initial, ...more] = line.trim().split(/[ \t]+/)
  if (more.length > 0 || mechanism === '') return refused('parameter_malformed')
  switch (mechanism.toUpperCase()) {
    case 'PLAIN':
      return initial === undefined ? { kind: 'prompt', text: '', next: unlessCanceled(readPlain) } : readPlain(initial)
    case 'LOGIN':
      return initial === undefined
        ? { kind: 'prompt', text: userPrompt, next: unlessCanceled(readUser) }
        : readUser(initial)
    default:
      return refused('auth_mechanism_unknown')
  }
}

function unlessCanceled(read: (line: string) => AuthStep): (line: string) => AuthStep {
  return line => (line.trim() === '*' ? refused('auth_canceled') : read(line.trim()))
}

/** authzid NUL authcid NUL password. */
function readPlain(text: string): AuthStep {
  const [, , password, ...more] = decode(text)?.split('\0') ?? []
  if (password === undefined || more.length > 0) return refused('auth_malformed')
  return { kind: 'credentials', password }
}

function readUser(text: string): AuthStep {
  if (decode(text) === undefined) return refused('auth_malformed')
  return { kind: 'prompt', text: passwordPrompt, next: unlessCanceled(readPassword) }
}

function readPassword(text: string): AuthStep {
  const password = decode(text)
  return password === undefined ? refused('auth_malformed') : { kind: 'credentials', password }
}

/** `=` stands for an empty initial response (RFC 4954 §4). */
function decode(text: string): string | undefined {
  if (text === '=') return ''
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? Buffer.from(text, 'base64').toString('utf8') : undefined
}

function refused(code: SmtpRefusalCode): AuthStep {
  return { kind: 'refused', code }
}
