import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { SessionRow } from './table.ts'

/** A session, and whose it is. */
export interface OwnedSessionRow
  extends Pick<SessionRow, 'id' | 'created_at' | 'last_used_at' | 'expires_at' | 'ip' | 'user_agent'> {
  readonly email: string
}

/** Which sessions; an absent field does not filter. */
export interface SessionFilter {
  readonly ids?: readonly Id<'ses'>[]
  /** Of the person with this email, in the form of `canonicalEmail`. */
  readonly email?: string
}

/** At most `limit` sessions that end after `now` and were used after `usedAfter`, the newest first. */
export async function selectOwnedSessions(
  db: Db,
  { ids, email }: SessionFilter,
  { now, usedAfter, limit }: { readonly now: Instant; readonly usedAfter: Instant; readonly limit: number },
): Promise<OwnedSessionRow[]> {
  let query = db
    .selectFrom('sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select(['s.id', 's.created_at', 's.last_used_at', 's.expires_at', 's.ip', 's.user_agent', 'u.email'])
    .where('s.expires_at', '>', now)
    .where('s.last_used_at', '>', usedAfter)
  if (ids !== undefined) query = query.where('s.id', 'in', ids)
  if (email !== undefined) query = query.where('u.email', '=', email)
  return query.orderBy('s.id', 'desc').limit(sql.lit(limit)).execute()
}

/** Deletes the sessions; gives how many there were. */
export async function deleteSessions(db: Db, { ids, email }: SessionFilter): Promise<number> {
  let query = db.deleteFrom('sessions')
  if (ids !== undefined) query = query.where('id', 'in', ids)
  if (email !== undefined)
    query = query.where('user_id', 'in', users =>
      users.selectFrom('users').select('users.id').where('email', '=', email),
    )
  const { numDeletedRows } = await query.executeTakeFirst()
  return Number(numDeletedRows)
}
