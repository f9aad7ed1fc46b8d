import { type Clock, plusMs } from '../../base/clock.ts'
import { deleteBackupRun, insertBackupRun, updateBackupRunExpiry } from '../../base/database/backup-runs-table.ts'
import { openDatabase } from '../../base/database/database.ts'
import { CommandError } from '../../base/operator-error.ts'
import { acquireBackupLock } from './snapshot-table.ts'

/** While it is held no blob is taken away, and no other backup of this database begins. */
export interface BackupLease {
  /** @throws once it is lost: blobs may be gone. */
  requireValid(): void
  release(): Promise<void>
}

/** How long blobs stay after a backup that died, in milliseconds. */
const leaseMs = 300_000
const renewEveryMs = 30_000

/** @throws CommandError where another backup of this database is under way */
export async function acquireBackupLease(databaseUrl: string, id: string, clock: Clock): Promise<BackupLease> {
  // A connection of its own, on which the lock lives.
  const { db, close } = openDatabase(databaseUrl, 1)
  let trouble: Error | undefined
  const renew = async () => {
    const now = clock.now()
    if (!(await updateBackupRunExpiry(db, id, now, plusMs(now, leaseMs))))
      throw new CommandError('The backup was away from the database for so long that blobs may have gone meanwhile.')
  }
  try {
    if (!(await acquireBackupLock(db))) throw new CommandError('Another backup of this database is under way.')
    const now = clock.now()
    await insertBackupRun(db, id, now, plusMs(now, leaseMs))
  } catch (error) {
    await close()
    throw error
  }
  const timer = setInterval(() => {
    renew().catch((error: Error) => {
      trouble = error
    })
  }, renewEveryMs)
  return {
    requireValid() {
      if (trouble) throw trouble
    },
    async release() {
      clearInterval(timer)
      await deleteBackupRun(db, id).catch(() => undefined)
      await close()
    },
  }
}
