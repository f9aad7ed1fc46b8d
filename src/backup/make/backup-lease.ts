import { type Clock, plusMs } from '../../base/clock.ts'
import { deleteBackupRun, insertBackupRun, updateBackupRunExpiry } from '../../base/database/backup-runs-table.ts'
import { openDatabase } from '../../base/database/database.ts'
import { CommandError } from '../../base/operator-error.ts'
import { acquireBackupLock } from './snapshot-table.ts'

/** While a backup has it, no blob is deleted, and no other backup of this database starts. */
export interface BackupLease {
  /** @throws CommandError once the lease is lost, since blobs may have been deleted */
  requireValid(): void
  release(): Promise<void>
}

/** How long blobs are still not deleted after a backup was killed, in milliseconds. */
const leaseMs = 300_000
const renewEveryMs = 30_000

/** @throws CommandError when another backup of this database is running */
export async function acquireBackupLease(databaseUrl: string, id: string, clock: Clock): Promise<BackupLease> {
  // The lock belongs to this connection.
  const { db, close } = openDatabase(databaseUrl, 1)
  let failure: Error | undefined
  const renew = async () => {
    const now = clock.now()
    if (!(await updateBackupRunExpiry(db, id, now, plusMs(now, leaseMs))))
      throw new CommandError(
        'The backup lost the database for too long: blobs may have been deleted meanwhile. Start it again.',
      )
  }
  try {
    if (!(await acquireBackupLock(db))) throw new CommandError('Another backup of this database is running.')
    const now = clock.now()
    await insertBackupRun(db, id, now, plusMs(now, leaseMs))
  } catch (error) {
    await close()
    throw error
  }
  const timer = setInterval(() => {
    renew().catch((error: Error) => {
      failure = error
    })
  }, renewEveryMs)
  return {
    requireValid() {
      if (failure) throw failure
    },
    async release() {
      clearInterval(timer)
      await deleteBackupRun(db, id).catch(() => undefined)
      await close()
    },
  }
}
