import type { Instant } from '../clock.ts'
import type { Db } from './database.ts'

/** Work that one process does at a time. */
export interface LeaseClaim {
  readonly name: string
  /** 26 characters that no other process has. */
  readonly holder: string
  readonly now: Instant
  readonly until: Instant
}

/** Gives the work to `holder` until then, unless another one holds it now. Did they get it, or have it still? */
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

export async function deleteLease(db: Db, name: string, holder: string): Promise<void> {
  await db.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute()
}
