import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'

type FailuresRow = Pick<DatabaseSchema['sign_in_failures'], 'failures' | 'last_at'>

/** The subject's failures, locked until the transaction ends; it gets a row without failures where it has none. */
export async function lockFailures(db: Db, hash: Buffer, at: Instant): Promise<FailuresRow> {
  await db.insertInto('sign_in_failures').ignore().values({ subject_hash: hash, failures: 0, last_at: at }).execute()
  return db
    .selectFrom('sign_in_failures')
    .select(['failures', 'last_at'])
    .where('subject_hash', '=', hash)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

export async function updateFailures(db: Db, hash: Buffer, row: FailuresRow): Promise<void> {
  await db.updateTable('sign_in_failures').set(row).where('subject_hash', '=', hash).execute()
}

/** Takes one failure back: that of `at`. Where no other came since, the one before it, of `before`, is the last again. */
export async function undoFailure(
  db: Db,
  hash: Buffer,
  { at, before }: { readonly at: Instant; readonly before: Instant },
): Promise<void> {
  await db
    .updateTable('sign_in_failures')
    .set({
      failures: sql<number>`failures - 1`,
      last_at: sql<Instant>`CASE WHEN last_at = ${at} THEN ${before} ELSE last_at END`,
    })
    .where('subject_hash', '=', hash)
    .where('failures', '>', 0)
    .execute()
}

export async function deleteFailures(db: Db, hash: Buffer): Promise<void> {
  await db.deleteFrom('sign_in_failures').where('subject_hash', '=', hash).execute()
}

/** Deletes up to `most` rows whose last failure was before `before`; resolves to how many. */
export async function deleteOldFailures(db: Db, before: Instant, most: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('sign_in_failures')
    .where('last_at', '<', before)
    .limit(sql.lit(most))
    .executeTakeFirst()
  return Number(numDeletedRows)
}
