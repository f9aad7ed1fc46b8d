import { dayMs, type Instant, plusMs } from '../clock.ts'
import { type Db, inTransaction } from './database.ts'

/** The row of `backup_runs` that is not a backup: starting a backup and deleting blobs both lock it. */
const gateRowId = 'gate'

/** How long rows of `backups` are kept. */
const backupHistoryMs = 400 * dayMs

/** Records that a backup is running, until `expiresAt` unless that is extended. Waits while blobs are being deleted. */
export async function insertBackupRun(db: Db, id: string, now: Instant, expiresAt: Instant): Promise<void> {
  await inTransaction(db, async tx => {
    await lockGateRow(tx)
    await tx.deleteFrom('backup_runs').where('id', '!=', gateRowId).where('expires_at', '<', now).execute()
    await tx.insertInto('backup_runs').values({ id, started_at: now, expires_at: expiresAt }).execute()
  })
}

/** Extends a running backup; false when it had expired. */
export async function updateBackupRunExpiry(db: Db, id: string, now: Instant, expiresAt: Instant): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('backup_runs')
    .set({ expires_at: expiresAt })
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Records that a backup is no longer running. */
export async function deleteBackupRun(db: Db, id: string): Promise<void> {
  await db.deleteFrom('backup_runs').where('id', '=', id).where('id', '!=', gateRowId).execute()
}

/**
 * Whether a backup is running. To be called in the transaction that deletes the rows of blobs: no backup starts before that
 * transaction ends, so that no backup finds the row of a blob whose chunks are being deleted.
 */
export async function isBackupRunning(tx: Db, now: Instant): Promise<boolean> {
  await lockGateRow(tx)
  const running = await tx
    .selectFrom('backup_runs')
    .select('id')
    .where('id', '!=', gateRowId)
    .where('expires_at', '>', now)
    .limit(1)
    .executeTakeFirst()
  return running !== undefined
}

async function lockGateRow(tx: Db): Promise<void> {
  await tx.selectFrom('backup_runs').select('id').where('id', '=', gateRowId).forUpdate().execute()
}

/** A backup that was completed. */
export interface CompletedBackup {
  readonly id: string
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly seconds: number
  /** The bytes that a restore reads. */
  readonly bytes: number
  /** Those of them that this backup wrote: the rest was in the folder already. */
  readonly newBytes: number
}

/** Inserts a completed backup, and deletes those of more than 400 days ago. */
export async function insertCompletedBackup(db: Db, backup: CompletedBackup): Promise<void> {
  await db
    .insertInto('backups')
    .values({
      id: backup.id,
      started_at: backup.startedAt,
      finished_at: backup.finishedAt,
      seconds: backup.seconds,
      bytes: backup.bytes,
      new_bytes: backup.newBytes,
      proven_at: null,
      refuted_at: null,
    })
    .execute()
  await db.deleteFrom('backups').where('finished_at', '<', plusMs(backup.finishedAt, -backupHistoryMs)).execute()
}

/** Records the result of a test restore; false: this database has no such backup. */
export async function updateRestoreTrial(
  db: Db,
  id: string,
  kind: 'proven' | 'refuted',
  now: Instant,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('backups')
    .set(kind === 'proven' ? { proven_at: now } : { refuted_at: now })
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** The newest backup that was finished, proven by a test restore, or found damaged; undefined: there is none. */
export async function selectNewestBackup(db: Db, by: 'finished_at' | 'proven_at' | 'refuted_at') {
  return await db
    .selectFrom('backups')
    .select(['id', 'seconds', 'bytes', 'new_bytes', 'finished_at', 'proven_at', 'refuted_at'])
    .where(by, 'is not', null)
    .orderBy(by, 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The newest `limit` completed backups of this database, the newest first. */
export async function selectBackups(db: Db, limit: number) {
  return await db
    .selectFrom('backups')
    .select(['id', 'started_at', 'finished_at', 'seconds', 'bytes', 'new_bytes', 'proven_at', 'refuted_at'])
    .orderBy('finished_at', 'desc')
    .limit(limit)
    .execute()
}
