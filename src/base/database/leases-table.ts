import type { Instant } from '../clock.ts'
import type { Db } from './database.ts'

/** A claim on work that only one process does at a time. */
export interface LeaseClaim {
  readonly name: string
  /** The process: 26 characters that no other process has. */
  readonly holder: string
  readonly now: Instant
  readonly until: Instant
}

/** Leases the work to `holder`, or extends its lease; false while another process has the lease. */
export async function claimLease(db: Db, { name, holder, now, until }: LeaseClaim): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('leases')
    .set({ holder, until })
    .where('name', '=', name)
    .where(where => where.or([where('until', '<=', now), where('holder', '=', holder)]))
    .executeTakeFirst()
  if (numUpdatedRows > 0n) return true
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('leases')
    .ignore()
    .values({ name, holder, until })
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

/** Ends the lease of `holder`, where it has it. */
export async function deleteLease(db: Db, name: string, holder: string): Promise<void> {
  await db.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute()
}
