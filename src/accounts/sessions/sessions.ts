import { sessionCookieName } from '../../api/session/session-cookie.ts'
import { type Clock, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, newId } from '../../base/ids.ts'
import { updateUser } from '../users/table.ts'
import { longestMs } from './authenticate.ts'
import { newCookieToken } from './cookie-token.ts'
import type { SignInRequest } from './deps.ts'
import { deleteSession, insertSession, updateSessionToken } from './table.ts'

/** A session that has just begun, or got a new token. */
export interface IssuedSession {
  readonly id: Id<'ses'>
  /** The value of its cookie. It is not stored. */
  readonly cookie: string
}

const maxUserAgentLength = 255

/**
 * Begins a session, in the transaction that finds out who it is. Whoever signs in has just presented a factor. A session that
 * the browser had before ends.
 */
export async function startSession(
  db: Db,
  userId: Id<'usr'>,
  { ip, userAgent, session }: Pick<SignInRequest, 'ip' | 'userAgent'> & Partial<Pick<SignInRequest, 'session'>>,
  clock: Clock,
): Promise<IssuedSession> {
  const id = newId('ses')
  const { cookie, hash } = newCookieToken(id)
  const at = clock.now()
  if (session) await deleteSession(db, session.userId, session.id)
  await insertSession(db, {
    id,
    user_id: userId,
    token_hash: hash,
    created_at: at,
    last_used_at: at,
    expires_at: plusMs(at, longestMs),
    confirmed_at: at,
    ip: ip.slice(0, 45),
    user_agent: userAgent === null ? null : userAgent.slice(0, maxUserAgentLength),
  })
  await updateUser(db, userId, { last_sign_in_at: at })
  return { id, cookie }
}

/** Gives a session a new token after a factor was presented or changed: whoever knew the old one is out. */
export async function renewSession(
  db: Db,
  id: Id<'ses'>,
  { isConfirmed }: { readonly isConfirmed: boolean },
  clock: Clock,
): Promise<IssuedSession> {
  const { cookie, hash } = newCookieToken(id)
  await updateSessionToken(db, id, { token_hash: hash, ...(isConfirmed && { confirmed_at: clock.now() }) })
  return { id, cookie }
}

type CookieStore = Pick<SignInRequest, 'isSecure' | 'setCookie'>

export function setSessionCookie({ isSecure, setCookie }: CookieStore, { cookie }: IssuedSession): void {
  setCookie(sessionCookieName(isSecure), cookie, longestMs / 1000)
}

export function clearSessionCookie({ isSecure, setCookie }: CookieStore): void {
  setCookie(sessionCookieName(isSecure), '', 0)
}
