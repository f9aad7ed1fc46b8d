import { type Clock, dayMs, plusMs } from '../../base/clock.ts'
import { isBackupRunning } from '../../base/database/backup-runs-table.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import {
  deleteBlob,
  deleteChunks,
  deleteTombstones,
  insertTombstones,
  lockBlob,
  selectBlobsAfter,
  selectDeletedBlobs,
  selectExpiredTombstones,
} from './tombstones-table.ts'

/*
 * References to a blob are not counted. Instead:
 *
 * 1. A scan gives each blob that nothing refers to a tombstone.
 * 2. Seven days later the blob is locked and checked again. If something refers to it, or it was stored again, the tombstone
 *    is deleted. Otherwise the blob's row is deleted: from then on, storing the same bytes makes a new blob.
 * 3. Its chunks are deleted, a few at a time.
 *
 * There is no race with storing bytes that are already there: `store` uses such a blob only if `created_at` is less than a
 * day old, or after setting it to now, which takes the same row lock (see mysql.ts); its caller refers to the blob within
 * minutes. If `store` gets the lock first, step 2 finds a new blob; if step 2 does, `store` finds none.
 */

export interface BlobCleanupDeps {
  readonly db: Db
  readonly clock: Clock
  /** Which of these blobs something refers to, in committed data. */
  selectReferencedBlobs(db: Db, ids: readonly Id<'blb'>[]): Promise<ReadonlySet<Id<'blb'>>>
}

/** A blob younger than this may be about to be referred to. */
const minAgeMs = dayMs
const tombstoneMs = 7 * dayMs

/**
 * Scans at most `limit` blobs whose ids follow `after`, and gives those that nothing refers to a tombstone. Returns the
 * cursor for the next call, or null at the end.
 */
export async function markUnreferencedBlobs(
  deps: BlobCleanupDeps,
  after: string,
  limit: number,
): Promise<string | null> {
  const { db, clock } = deps
  const now = clock.now()
  const blobs = await selectBlobsAfter(db, after, limit)
  const old = blobs.filter(blob => blob.created_at < plusMs(now, -minAgeMs)).map(blob => blob.id)
  const referenced = old.length > 0 ? await deps.selectReferencedBlobs(db, old) : new Set()
  await insertTombstones(
    db,
    old.filter(id => !referenced.has(id)),
    now,
  )
  return blobs.length < limit ? null : (blobs.at(-1)?.id ?? null)
}

/** How many blobs were examined, and the count and bytes of those that were deleted. */
export interface BlobCleanupResult {
  readonly examined: number
  readonly count: number
  readonly bytes: number
}

/** Deletes blobs whose tombstone is seven days old; examines at most `limit` of them. Stops while a backup runs. */
export async function deleteUnreferencedBlobs(deps: BlobCleanupDeps, limit: number): Promise<BlobCleanupResult> {
  const due = await selectExpiredTombstones(deps.db, plusMs(deps.clock.now(), -tombstoneMs), limit)
  let count = 0
  let bytes = 0
  for (const [examined, id] of due.entries()) {
    const result = await inTransaction(deps.db, tx => deleteUnlessReferenced({ ...deps, db: tx }, id))
    if (result === 'backup') return { examined, count, bytes }
    if (result === 'referenced') continue
    count++
    bytes += result
  }
  return { examined: due.length, count, bytes }
}

/** The size of the deleted blob; `backup`: a backup is running; `referenced`: the blob stays. */
async function deleteUnlessReferenced(
  { db, clock, selectReferencedBlobs }: BlobCleanupDeps,
  id: Id<'blb'>,
): Promise<number | 'backup' | 'referenced'> {
  const now = clock.now()
  if (await isBackupRunning(db, now)) return 'backup'
  const blob = await lockBlob(db, id)
  const isReferenced =
    !blob || blob.created_at >= plusMs(now, -tombstoneMs) || (await selectReferencedBlobs(db, [id])).has(id)
  if (isReferenced) await deleteTombstones(db, [id])
  else await deleteBlob(db, id, now)
  return isReferenced ? 'referenced' : Number(blob.size)
}

/** Chunks deleted in one transaction: 2 MiB, a size that the binary log takes easily. */
const chunkBatchSize = 4

/** Deletes a few chunks of a deleted blob. False: there are none, or a backup is running. */
export async function deleteOrphanedChunks({ db, clock }: Pick<BlobCleanupDeps, 'db' | 'clock'>): Promise<boolean> {
  const [id] = await selectDeletedBlobs(db, 1)
  if (!id) return false
  return await inTransaction(db, async tx => {
    // A backup still reads the chunks of blobs whose rows it has read before.
    if (await isBackupRunning(tx, clock.now())) return false
    if ((await deleteChunks(tx, id, chunkBatchSize)) < chunkBatchSize) await deleteTombstones(tx, [id])
    return true
  })
}
