import { type Clock, plusMs } from '../../base/clock.ts'
import { beginRun, endRun, renewRun } from '../../base/database/backup-runs-table.ts'
import { openDatabase } from '../../base/database/database.ts'
import { CommandTrouble } from '../../base/operator-error.ts'
import { takeLock } from './snapshot-table.ts'

/** While it is held no blob is taken away, and no other backup of this database begins. */
export interface Lease {
  /** @throws once it is lost: blobs may be gone. */
  check(): void
  end(): Promise<void>
}

/** How long blobs stay after a backup that died, in milliseconds. */
const leaseMs = 300_000
const renewEveryMs = 30_000

/** @throws CommandTrouble where another backup of this database is under way */
export async function takeLease(databaseUrl: string, id: string, clock: Clock): Promise<Lease> {
  // A connection of its own, on which the lock lives.
  const { db, close } = openDatabase(databaseUrl, 1)
  let trouble: Error | undefined
  const renew = async () => {
    const now = clock.now()
    if (!(await renewRun(db, id, now, plusMs(now, leaseMs))))
      throw new CommandTrouble('The backup was away from the database for so long that blobs may have gone meanwhile.')
  }
  try {
    if (!(await takeLock(db))) throw new CommandTrouble('Another backup of this database is under way.')
    const now = clock.now()
    await beginRun(db, id, now, plusMs(now, leaseMs))
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
    check() {
      if (trouble) throw trouble
    },
    async end() {
      clearInterval(timer)
      await endRun(db, id).catch(() => undefined)
      await close()
    },
  }
}
