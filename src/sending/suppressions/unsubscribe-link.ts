import { createHash, randomBytes } from 'node:crypto'
import { refuse } from '../../base/refusal.ts'
import type { HeaderField } from '../accept/headers.ts'
import type { RecipientLists } from '../accept/recipients.ts'

/** The token of one email's link: 256 random bits, of which only the SHA-256 is stored. */
export function newUnsubscribeToken(): string {
  return randomBytes(32).toString('base64url')
}

export function hashUnsubscribeToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/**
 * Why mail programs will not offer one-click unsubscribing with links of this URL; null: they will. RFC 8058 §3.1.
 * @param publicUrl undefined: MAILROOM_PUBLIC_URL is not set
 */
export function oneClickWarning(publicUrl: string | undefined): string | null {
  if (publicUrl !== undefined && new URL(publicUrl).protocol === 'https:') return null
  return 'mail programs do not unsubscribe with one click while MAILROOM_PUBLIC_URL is not https (RFC 8058)'
}

/** The header fields of one-click unsubscribing. RFC 2369 §3.2, RFC 8058 §3.1. */
export function unsubscribeHeaders(publicUrl: string, token: string): readonly HeaderField[] {
  return [
    { name: 'List-Unsubscribe', value: `<${publicUrl.replace(/\/+$/, '')}/unsubscribe/${token}>` },
    { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
  ]
}

/**
 * Requires that an unsubscribe link can be added: it is for one address, and Mailroom itself sets the header fields.
 * @throws invalid_request
 */
export function requireLinkable({ to, cc, bcc }: RecipientLists, headers: readonly HeaderField[]): void {
  const count = to.length + cc.length + bcc.length
  if (count !== 1)
    throw refuse('invalid_request', {
      message: `unsubscribe: an email with an unsubscribe link must have exactly one recipient, not ${count}.`,
      param: 'unsubscribe',
    })
  const own = headers.find(({ name }) => /^list-unsubscribe(-post)?$/i.test(name))
  if (own)
    throw refuse('invalid_request', {
      message: `headers.${own.name}: with \`unsubscribe: true\` Mailroom sets this header.`,
      param: `headers.${own.name}`,
    })
}
