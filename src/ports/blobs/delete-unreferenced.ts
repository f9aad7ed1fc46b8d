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
 * Nobody counts what refers to a blob. Instead:
 *
 * 1. A blob to which nothing refers when it is looked at gets a tombstone.
 * 2. Seven days later it is locked and looked at again. When something refers to it, or it was stored again meanwhile,
 *    the tombstone goes. Else its row goes, and with that the content has no blob: who stores it again makes a new one.
 * 3. Its chunks follow, a few at a time.
 *
 * Who stores content that is there takes the blob only once its `created_at` says so within the last day, which takes the
 * same lock (see mysql.ts), and refers to it in minutes. So either they are first, and step 2 sees a blob that was stored
 * just now; or step 2 is, and they find none.
 */

export interface BlobCleanupDeps {
  readonly db: Db
  readonly clock: Clock
  /** Those of the blobs that something refers to, as far as it is committed. */
  selectReferencedBlobs(db: Db, ids: readonly Id<'blb'>[]): Promise<ReadonlySet<Id<'blb'>>>
}

/** What was stored so short a time ago may still be referred to. */
const newMs = dayMs
const forgottenMs = 7 * dayMs

/** Looks at the next blobs after `after` by id, at most `most`; where it came to, or null at the end. */
export async function markUnreferencedBlobs(
  deps: BlobCleanupDeps,
  after: string,
  most: number,
): Promise<string | null> {
  const { db, clock } = deps
  const now = clock.now()
  const blobs = await selectBlobsAfter(db, after, most)
  const old = blobs.filter(blob => blob.created_at < plusMs(now, -newMs)).map(blob => blob.id)
  const referred = old.length > 0 ? await deps.selectReferencedBlobs(db, old) : new Set()
  await insertTombstones(
    db,
    old.filter(id => !referred.has(id)),
    now,
  )
  return blobs.length < most ? null : (blobs.at(-1)?.id ?? null)
}

/** What was removed of the blobs that were looked at. */
export interface BlobCleanupResult {
  readonly examined: number
  readonly count: number
  readonly bytes: number
}

/** Removes blobs that have been forgotten for seven days; looks at `most` of them at most. */
export async function deleteUnreferencedBlobs(deps: BlobCleanupDeps, most: number): Promise<BlobCleanupResult> {
  const due = await selectExpiredTombstones(deps.db, plusMs(deps.clock.now(), -forgottenMs), most)
  let count = 0
  let bytes = 0
  for (const [looked, id] of due.entries()) {
    const removed = await inTransaction(deps.db, tx => removeOne({ ...deps, db: tx }, id))
    if (removed === 'backup') return { examined: looked, count, bytes }
    if (removed === 'wanted') continue
    count++
    bytes += removed
  }
  return { examined: due.length, count, bytes }
}

/** The bytes of it; `backup`: one is running, `wanted`: it stays. */
async function removeOne(
  { db, clock, selectReferencedBlobs }: BlobCleanupDeps,
  id: Id<'blb'>,
): Promise<number | 'backup' | 'wanted'> {
  const now = clock.now()
  if (await isBackupRunning(db, now)) return 'backup'
  const blob = await lockBlob(db, id)
  const isWanted =
    !blob || blob.created_at >= plusMs(now, -forgottenMs) || (await selectReferencedBlobs(db, [id])).has(id)
  if (isWanted) await deleteTombstones(db, [id])
  else await deleteBlob(db, id, now)
  return isWanted ? 'wanted' : Number(blob.size)
}

/** So many chunks go at a time: 2 MiB, which a binary log holds whole. */
const chunksAtOnce = 4

/** Removes chunks of blobs that are gone, a few of them; were there any? */
export async function deleteOrphanedChunks({ db, clock }: Pick<BlobCleanupDeps, 'db' | 'clock'>): Promise<boolean> {
  const [id] = await selectDeletedBlobs(db, 1)
  if (!id) return false
  return await inTransaction(db, async tx => {
    // A backup reads the chunks of blobs whose rows it has seen.
    if (await isBackupRunning(tx, clock.now())) return false
    if ((await deleteChunks(tx, id, chunksAtOnce)) < chunksAtOnce) await deleteTombstones(tx, [id])
    return true
  })
}
