import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'

/** What a table takes on the disk, as its server estimates it, in bytes. */
export interface TableSize {
  readonly name: string
  readonly bytes: number
  /** Free within its file: what is stored next goes there. InnoDB does not make files smaller. */
  readonly reusable: number
}

export async function selectTableSizes(db: Db): Promise<readonly TableSize[]> {
  return await db.connection().execute(async connection => {
    // MySQL alone would give what it found up to a day ago; to MariaDB it is a comment.
    await sql`SET SESSION sql_mode = @@sql_mode /*!80000 , SESSION information_schema_stats_expiry = 0 */`.execute(
      connection,
    )
    const { rows } = await sql<{
      readonly name: string
      readonly bytes: number | string
      readonly reusable: number | string
    }>`SELECT TABLE_NAME AS name, COALESCE(DATA_LENGTH + INDEX_LENGTH, 0) AS bytes, COALESCE(DATA_FREE, 0) AS reusable
      FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'`.execute(connection)
    return rows.map(({ name, bytes, reusable }) => ({ name, bytes: Number(bytes), reusable: Number(reusable) }))
  })
}

/** Notes how much is stored, unless another process has for this time; forgets what was noted before `forgetBefore`. */
export async function insertStorageSample(
  db: Db,
  takenAt: Instant,
  bytes: number,
  forgetBefore: Instant,
): Promise<void> {
  await db.insertInto('storage_samples').ignore().values({ taken_at: takenAt, bytes }).execute()
  await db.deleteFrom('storage_samples').where('taken_at', '<', forgetBefore).execute()
}

/** The first that was noted at `since` or later. */
export async function selectFirstSampleSince(db: Db, since: Instant) {
  return await db
    .selectFrom('storage_samples')
    .select(['taken_at', 'bytes'])
    .where('taken_at', '>=', since)
    .orderBy('taken_at')
    .limit(sql.lit(1))
    .executeTakeFirst()
}
