import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema, Flag } from '../../base/database/schema.ts'
import { placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'

export type SessionRow = DatabaseSchema['sessions']

/** A session, and what its person is at this moment. */
export interface SessionAuthRow
  extends Pick<SessionRow, 'id' | 'user_id' | 'token_hash' | 'last_used_at' | 'expires_at' | 'confirmed_at'> {
  readonly email: string
  readonly name: string
  readonly is_operator: Flag
  /** Are they owner or admin of any organization? */
  readonly is_manager: Flag
  /** Have they a passkey or an authenticator? */
  readonly has_factor: Flag
}

const selectLive = `SELECT s.id, s.user_id, s.token_hash, s.last_used_at, s.expires_at, s.confirmed_at, u.email, u.name,
    EXISTS (SELECT 1 FROM operators o WHERE o.user_id = s.user_id) AS is_operator,
    EXISTS (SELECT 1 FROM members m WHERE m.user_id = s.user_id AND m.role IN ('owner', 'admin')) AS is_manager,
    u.totp_secret IS NOT NULL OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = s.user_id) AS has_factor
  FROM sessions s JOIN users u ON u.id = s.user_id
  WHERE s.id IN`

/** The sessions with these ids. By primary keys and indexes of the person only. */
export function selectSessionsForAuth(db: Db, ids: readonly Id<'ses'>[]): Promise<SessionAuthRow[]> {
  return selectRows<SessionAuthRow>(db, `${selectLive} (${placeholders(ids)})`, ids)
}

export async function updateSessionsUsed(db: Db, ids: readonly Id<'ses'>[], at: Instant): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ last_used_at: at })
    .where('id', 'in', ids)
    .where('last_used_at', '<', at)
    .execute()
}

export async function insertSession(db: Db, row: SessionRow): Promise<void> {
  await db.insertInto('sessions').values(row).execute()
}

export async function updateSessionToken(
  db: Db,
  id: Id<'ses'>,
  change: Pick<SessionRow, 'token_hash'> & Partial<Pick<SessionRow, 'confirmed_at'>>,
): Promise<void> {
  await db.updateTable('sessions').set(change).where('id', '=', id).execute()
}

/** The person's sessions that were used since `idleSince` and have not expired at `now`, newest first; at most 100. */
export function selectSessions(
  db: Db,
  userId: Id<'usr'>,
  { now, idleSince }: { readonly now: Instant; readonly idleSince: Instant },
): Promise<SessionRow[]> {
  return db
    .selectFrom('sessions')
    .select([
      'id',
      'user_id',
      'token_hash',
      'created_at',
      'last_used_at',
      'expires_at',
      'confirmed_at',
      'ip',
      'user_agent',
    ])
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .where('last_used_at', '>', idleSince)
    .orderBy('id', 'desc')
    .limit(100)
    .execute()
}

/** Ends a session of this person. False when they have no such session. */
export async function deleteSession(db: Db, userId: Id<'usr'>, id: Id<'ses'>): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Ends all sessions of this person but one; resolves to how many. */
export async function deleteOtherSessions(db: Db, userId: Id<'usr'>, keep: Id<'ses'>): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', '!=', keep)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Deletes up to `most` sessions that have expired; resolves to how many. */
export async function deleteExpiredSessions(db: Db, now: Instant, most: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('expires_at', '<=', now)
    .limit(sql.lit(most))
    .executeTakeFirst()
  return Number(numDeletedRows)
}
