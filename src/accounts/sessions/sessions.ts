import { type Clock, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, newId } from '../../base/ids.ts'
import { updateUser } from '../users/table.ts'
import { longestMs } from './authenticate.ts'
import { newCookieToken } from './cookie-token.ts'
import { insertSession } from './table.ts'

/** Where a session is used from, as its person is shown it. */
export interface SessionClient {
  readonly ip: string
  readonly userAgent: string | null
}

const maxUserAgentLength = 255

/** A session that has just begun, or got a new token. */
export interface IssuedSession {
  readonly id: Id<'ses'>
  /** The value of its cookie. It is not stored. */
  readonly cookie: string
}

/** Begins a session, in the transaction that finds out who it is. Whoever signs in has just presented a factor. */
export async function startSession(
  db: Db,
  userId: Id<'usr'>,
  { ip, userAgent }: SessionClient,
  clock: Clock,
): Promise<IssuedSession> {
  const id = newId('ses')
  const { cookie, hash } = newCookieToken(id)
  const at = clock.now()
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
