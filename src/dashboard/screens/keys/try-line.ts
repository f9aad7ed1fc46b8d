import type { Scope } from '../../components/access/scopes.ts'

const reads: readonly (readonly [Scope, string])[] = [
  ['inbox:read', '/v1/inbox?limit=5'],
  ['email:read', '/v1/emails?limit=5'],
  ['domains:read', '/v1/domains'],
  ['templates:read', '/v1/templates'],
  ['suppressions:read', '/v1/suppressions?limit=5'],
  ['brands:read', '/v1/brands'],
  ['drafts:read', '/v1/drafts'],
  ['members:read', '/v1/members'],
]

/** A command that uses a new key at once; null: none of its scopes reads or sends. */
export interface TryLine {
  readonly kind: 'send' | 'read'
  readonly code: string
}

interface TryLineInput {
  readonly key: string
  readonly scopes: readonly Scope[]
  readonly origin: string
  /** A domain that may send; null: there is none yet. */
  readonly domain: string | null
  /** Who gets the email. */
  readonly to: string
}

/** Sends where the key may and a domain is ready; otherwise it reads what the key may read. */
export function tryLine({ key, scopes, origin, domain, to }: TryLineInput): TryLine | null {
  const authorization = `-H 'Authorization: Bearer ${key}'`
  const read = reads.find(([scope]) => scopes.includes(scope))
  if (scopes.includes('email:send') && (domain !== null || !read)) {
    const email = { from: `hello@${domain ?? 'your-domain.example'}`, to, subject: 'Hello', text: 'It works.' }
    const body = JSON.stringify(email).replaceAll("'", '\\u0027')
    const code = `curl ${origin}/v1/emails \\\n  ${authorization} \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`
    return { kind: 'send', code }
  }
  return read ? { kind: 'read', code: `curl '${origin}${read[1]}' \\\n  ${authorization}` } : null
}
