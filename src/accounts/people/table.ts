import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** How a person proves who they are, and how often they are signed in. Never a secret. */
export interface PersonFactorsRow {
  readonly user_id: Id<'usr'>
  readonly has_password: 0 | 1
  readonly has_authenticator: 0 | 1
  readonly passkeys: number
  readonly sessions: number
  readonly last_sign_in_at: Instant | null
}

/** The factors of these people. A session counts that ends after `now` and was used after `usedAfter`. */
export async function selectFactors(
  db: Db,
  userIds: readonly Id<'usr'>[],
  { now, usedAfter }: { readonly now: Instant; readonly usedAfter: Instant },
): Promise<ReadonlyMap<Id<'usr'>, PersonFactorsRow>> {
  if (userIds.length === 0) return new Map()
  const { rows } = await sql<PersonFactorsRow>`SELECT u.id AS user_id, u.password_hash IS NOT NULL AS has_password,
      u.totp_secret IS NOT NULL AS has_authenticator, u.last_sign_in_at,
      (SELECT COUNT(*) FROM passkeys p WHERE p.user_id = u.id) AS passkeys,
      (SELECT COUNT(*) FROM sessions s
        WHERE s.user_id = u.id AND s.expires_at > ${now} AND s.last_used_at > ${usedAfter}) AS sessions
    FROM users u WHERE u.id IN (${sql.join(userIds)})`.execute(db)
  return new Map(
    rows.map(row => [row.user_id, { ...row, passkeys: Number(row.passkeys), sessions: Number(row.sessions) }]),
  )
}

/** Ends all sessions of a person; gives how many there were. */
export async function deleteSessionsOfUser(db: Db, userId: Id<'usr'>): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('sessions').where('user_id', '=', userId).executeTakeFirst()
  return Number(numDeletedRows)
}
