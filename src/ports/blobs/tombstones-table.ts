import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { Id } from '../../base/ids.ts'

/** At most `limit` blobs whose ids follow `after`, by id. */
export async function selectBlobsAfter(db: Db, after: string, limit: number) {
  return await db
    .selectFrom('blobs')
    .select(['id', 'created_at'])
    .where('id', '>', after as Id<'blb'>)
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute()
}

/** Gives blobs a tombstone; those that have one keep it. Returns how many were new. */
export async function insertTombstones(db: Db, ids: readonly Id<'blb'>[], now: Instant): Promise<number> {
  const rows = ids.map(id => ({ blob_id: id, forgotten_at: now, removed_at: null }))
  return await insertRows(db, 'blob_tombstones', rows, 'ignore')
}

/** Deletes tombstones: of blobs that are referred to again, and of those whose chunks are all deleted. */
export async function deleteTombstones(db: Db, ids: readonly Id<'blb'>[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom('blob_tombstones').where('blob_id', 'in', ids).execute()
}

/** Existing blobs whose tombstone is from before `before`, oldest first. */
export async function selectExpiredTombstones(db: Db, before: Instant, limit: number): Promise<readonly Id<'blb'>[]> {
  const rows = await db
    .selectFrom('blob_tombstones')
    .select('blob_id')
    .where('removed_at', 'is', null)
    .where('forgotten_at', '<', before)
    .orderBy('forgotten_at')
    .limit(sql.lit(limit))
    .execute()
  return rows.map(row => row.blob_id)
}

/** Locks a blob until the transaction ends. */
export async function lockBlob(tx: Db, id: Id<'blb'>) {
  return await tx.selectFrom('blobs').select(['created_at', 'size']).where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Deletes the row of a blob, and marks its tombstone so that its chunks are deleted next. */
export async function deleteBlob(tx: Db, id: Id<'blb'>, now: Instant): Promise<void> {
  await tx.deleteFrom('blobs').where('id', '=', id).execute()
  await tx.updateTable('blob_tombstones').set({ removed_at: now }).where('blob_id', '=', id).execute()
}

/** Blobs whose row is deleted but not all of their chunks. */
export async function selectDeletedBlobs(db: Db, limit: number): Promise<readonly Id<'blb'>[]> {
  const rows = await db
    .selectFrom('blob_tombstones')
    .select('blob_id')
    .where('removed_at', 'is not', null)
    .orderBy('removed_at')
    .limit(sql.lit(limit))
    .execute()
  return rows.map(row => row.blob_id)
}

/** Deletes at most `limit` chunks of a blob; returns how many. */
export async function deleteChunks(db: Db, id: Id<'blb'>, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM blob_chunks WHERE blob_id = ${id} ORDER BY position LIMIT ${sql.lit(limit)}`.execute(db)
  return Number(numAffectedRows)
}

/** Count and bytes of the blobs with a tombstone. The cost grows with their number. */
export async function countUnreferenced(db: Db): Promise<{ readonly count: number; readonly bytes: number }> {
  const row = await db
    .selectFrom('blob_tombstones')
    .innerJoin('blobs', 'blobs.id', 'blob_tombstones.blob_id')
    .select(({ fn }) => [fn.countAll().as('count'), fn.sum('blobs.size').as('bytes')])
    .executeTakeFirst()
  return { count: Number(row?.count ?? 0), bytes: Number(row?.bytes ?? 0) }
}
