import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { Id } from '../../base/ids.ts'

/** The blobs after `after` by id, at most `most` of them. */
export async function selectBlobsAfter(db: Db, after: string, most: number) {
  return await db
    .selectFrom('blobs')
    .select(['id', 'created_at'])
    .where('id', '>', after as Id<'blb'>)
    .orderBy('id')
    .limit(sql.lit(most))
    .execute()
}

/** Those that have a tombstone already keep it. */
export async function insertTombstones(db: Db, ids: readonly Id<'blb'>[], now: Instant): Promise<number> {
  const rows = ids.map(id => ({ blob_id: id, forgotten_at: now, removed_at: null }))
  return await insertRows(db, 'blob_tombstones', rows, 'unless there')
}

/** Takes tombstones away: of blobs that are wanted again, and of those whose chunks are gone. */
export async function deleteTombstones(db: Db, ids: readonly Id<'blb'>[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom('blob_tombstones').where('blob_id', 'in', ids).execute()
}

/** Blobs that are there and were forgotten before `before`, the longest forgotten first. */
export async function selectExpiredTombstones(db: Db, before: Instant, most: number): Promise<readonly Id<'blb'>[]> {
  const rows = await db
    .selectFrom('blob_tombstones')
    .select('blob_id')
    .where('removed_at', 'is', null)
    .where('forgotten_at', '<', before)
    .orderBy('forgotten_at')
    .limit(sql.lit(most))
    .execute()
  return rows.map(row => row.blob_id)
}

/** Locks a blob until the transaction ends. */
export async function lockBlob(tx: Db, id: Id<'blb'>) {
  return await tx.selectFrom('blobs').select(['created_at', 'size']).where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Removes the row of a blob; its chunks are still to go. */
export async function deleteBlob(tx: Db, id: Id<'blb'>, now: Instant): Promise<void> {
  await tx.deleteFrom('blobs').where('id', '=', id).execute()
  await tx.updateTable('blob_tombstones').set({ removed_at: now }).where('blob_id', '=', id).execute()
}

/** Blobs whose row is gone and whose chunks may be there. */
export async function selectDeletedBlobs(db: Db, most: number): Promise<readonly Id<'blb'>[]> {
  const rows = await db
    .selectFrom('blob_tombstones')
    .select('blob_id')
    .where('removed_at', 'is not', null)
    .orderBy('removed_at')
    .limit(sql.lit(most))
    .execute()
  return rows.map(row => row.blob_id)
}

/** Removes at most `most` chunks of a blob; how many that were. */
export async function deleteChunks(db: Db, id: Id<'blb'>, most: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM blob_chunks WHERE blob_id = ${id} ORDER BY position LIMIT ${sql.lit(most)}`.execute(db)
  return Number(numAffectedRows)
}

/** How many blobs nothing refers to, and their bytes. Costs as much as there are of them. */
export async function countUnreferenced(db: Db): Promise<{ readonly count: number; readonly bytes: number }> {
  const row = await db
    .selectFrom('blob_tombstones')
    .innerJoin('blobs', 'blobs.id', 'blob_tombstones.blob_id')
    .select(({ fn }) => [fn.countAll().as('count'), fn.sum('blobs.size').as('bytes')])
    .executeTakeFirst()
  return { count: Number(row?.count ?? 0), bytes: Number(row?.bytes ?? 0) }
}
