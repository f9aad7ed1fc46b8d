import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'

export type LoginLinkRow = DatabaseSchema['login_links']

const columns = ['id', 'token_hash', 'member_id', 'user_id', 'created_at', 'expires_at', 'used_at'] as const

export async function insertLoginLink(db: Db, row: LoginLinkRow): Promise<void> {
  await db.insertInto('login_links').values(row).execute()
}

export function selectLoginLink(db: Db, tokenHash: Buffer): Promise<LoginLinkRow | undefined> {
  return db.selectFrom('login_links').select(columns).where('token_hash', '=', tokenHash).executeTakeFirst()
}

/** The link, locked until the transaction ends. */
export function lockLoginLink(db: Db, tokenHash: Buffer): Promise<LoginLinkRow | undefined> {
  return db.selectFrom('login_links').select(columns).where('token_hash', '=', tokenHash).forUpdate().executeTakeFirst()
}

/** Closes this link, and all others of the same member or person that nobody used. */
export async function updateLoginLinkUsed(
  db: Db,
  { id, member_id, user_id }: LoginLinkRow,
  at: Instant,
): Promise<void> {
  await db
    .updateTable('login_links')
    .set({ used_at: at })
    .where('used_at', 'is', null)
    .where(where =>
      where.or([
        where('id', '=', id),
        ...(member_id === null ? [] : [where('member_id', '=', member_id)]),
        ...(user_id === null ? [] : [where('user_id', '=', user_id)]),
      ]),
    )
    .execute()
}

/** Deletes up to `most` links that expired before `before`; resolves to how many. */
export async function deleteOldLoginLinks(db: Db, before: Instant, most: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('login_links')
    .where('expires_at', '<', before)
    .limit(sql.lit(most))
    .executeTakeFirst()
  return Number(numDeletedRows)
}
