import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** The size of a table on disk, as the server estimates it, in bytes. */
export interface TableSize {
  readonly name: string
  readonly bytes: number
  /** Free space within its file, which new rows use first. InnoDB never shrinks files. */
  readonly reusable: number
}

export async function selectTableSizes(db: Db): Promise<readonly TableSize[]> {
  return await db.connection().execute(async connection => {
    // MySQL caches these figures for a day by default; to MariaDB the setting is a comment.
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

/** Stores a sample, unless another process did for this time; deletes the samples taken before `deleteBefore`. */
export async function insertStorageSample(
  db: Db,
  takenAt: Instant,
  bytes: number,
  deleteBefore: Instant,
): Promise<void> {
  await db.insertInto('storage_samples').ignore().values({ taken_at: takenAt, bytes }).execute()
  await db.deleteFrom('storage_samples').where('taken_at', '<', deleteBefore).execute()
}

/** The first sample taken at `since` or later. */
export async function selectFirstSampleSince(db: Db, since: Instant) {
  return await db
    .selectFrom('storage_samples')
    .select(['taken_at', 'bytes'])
    .where('taken_at', '>=', since)
    .orderBy('taken_at')
    .limit(sql.lit(1))
    .executeTakeFirst()
}

/** The bytes of content that an organization has, without the rows that describe it. */
export interface OrganizationBytes {
  readonly organizationId: Id<'org'>
  readonly blobs: number
  readonly bytes: number
}

/** The `limit` organizations with the most content, the largest first. Reads every row of `blobs`. */
export async function selectOrganizationBytes(db: Db, limit: number): Promise<readonly OrganizationBytes[]> {
  const { rows } = await sql<{
    readonly organizationId: Id<'org'>
    readonly blobs: number | string
    readonly bytes: number | string
  }>`SELECT organization_id AS organizationId, COUNT(*) AS blobs, SUM(size) AS bytes FROM blobs
    GROUP BY organization_id ORDER BY bytes DESC LIMIT ${sql.lit(limit)}`.execute(db)
  return rows.map(({ organizationId, blobs, bytes }) => ({
    organizationId,
    blobs: Number(blobs),
    bytes: Number(bytes),
  }))
}
