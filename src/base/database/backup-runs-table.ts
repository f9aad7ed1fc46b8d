import { dayMs, type Instant, plusMs } from '../clock.ts'
import { type Db, inTransaction } from './database.ts'

/** The row of `backup_runs` that is no backup: whoever begins one, or takes blobs away, holds it. */
const gateRowId = 'gate'

/** How long backups are remembered. */
const backupHistoryMs = 400 * dayMs

/** Notes a backup that is under way, until `expiresAt` unless it is renewed. */
export async function insertBackupRun(db: Db, id: string, now: Instant, expiresAt: Instant): Promise<void> {
  await inTransaction(db, async tx => {
    await lockGateRow(tx)
    await tx.deleteFrom('backup_runs').where('id', '!=', gateRowId).where('expires_at', '<', now).execute()
    await tx.insertInto('backup_runs').values({ id, started_at: now, expires_at: expiresAt }).execute()
  })
}

/** Was it still under way? */
export async function updateBackupRunExpiry(db: Db, id: string, now: Instant, expiresAt: Instant): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('backup_runs')
    .set({ expires_at: expiresAt })
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function deleteBackupRun(db: Db, id: string): Promise<void> {
  await db.deleteFrom('backup_runs').where('id', '=', id).where('id', '!=', gateRowId).execute()
}

/**
 * Is a backup under way? To be asked in the transaction that takes the rows of blobs away: none begins then before that
 * transaction ends, so that no backup meets the row of a blob whose bytes are going.
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

/** A backup that is whole. */
export interface CompletedBackup {
  readonly id: string
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly seconds: number
  /** All that a restore reads. */
  readonly bytes: number
  /** What this one wrote of it. */
  readonly newBytes: number
}

/** Remembers a backup, and forgets those of more than a year ago. */
export async function insertCompletedBackup(db: Db, made: CompletedBackup): Promise<void> {
  await db
    .insertInto('backups')
    .values({
      id: made.id,
      started_at: made.startedAt,
      finished_at: made.finishedAt,
      seconds: made.seconds,
      bytes: made.bytes,
      new_bytes: made.newBytes,
      proven_at: null,
      refuted_at: null,
    })
    .execute()
  await db.deleteFrom('backups').where('finished_at', '<', plusMs(made.finishedAt, -backupHistoryMs)).execute()
}

/** Remembers what a trial of a restore showed. False: no such backup was made of this database. */
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

/** The newest of each kind; undefined: there is none. */
export async function selectNewestBackup(db: Db, by: 'finished_at' | 'proven_at' | 'refuted_at') {
  return await db
    .selectFrom('backups')
    .select(['id', 'seconds', 'bytes', 'new_bytes', 'finished_at', 'proven_at', 'refuted_at'])
    .where(by, 'is not', null)
    .orderBy(by, 'desc')
    .limit(1)
    .executeTakeFirst()
}
