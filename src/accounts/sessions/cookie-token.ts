import type { Id } from '../../base/ids.ts'
import { newToken } from '../../base/secrets/token.ts'

/** What a session's cookie holds: `<session id without prefix>.<secret>`. */
export interface CookieToken {
  readonly id: Id<'ses'>
  readonly secret: string
}

const form = /^([0-9a-hjkmnp-tv-z]{26})\.([0-9A-Za-z_-]{43})$/

/** undefined: not in the form of a session's cookie. */
export function parseCookieToken(text: string): CookieToken | undefined {
  const [, token, secret] = form.exec(text) ?? []
  return token === undefined || secret === undefined ? undefined : { id: `ses_${token}`, secret }
}

/** A new value for the cookie of this session, and what the database keeps of it. */
export function newCookieToken(id: Id<'ses'>): { readonly cookie: string; readonly hash: Buffer } {
  const { token, hash } = newToken()
  return { cookie: `${id.slice(4)}.${token}`, hash }
}
