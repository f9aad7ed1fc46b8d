import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'

/** Leases a zone to `holder` until `until`, unless another holder's lease is valid at `now`. Did it? */
export async function leaseZone(
  db: Db,
  lease: { readonly zone: string; readonly holder: string; readonly now: Instant; readonly until: Instant },
): Promise<boolean> {
  const { zone, holder, now, until } = lease
  const { numUpdatedRows } = await db
    .updateTable('zone_turns')
    .set({ holder, until })
    .where('zone', '=', zone)
    .where('until', '<=', now)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) return true
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('zone_turns')
    .ignore()
    .values({ zone, holder, until })
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

/** Gives a lease back; one that someone else has by now stays. */
export async function deleteZoneLease(db: Db, zone: string, holder: string): Promise<void> {
  await db.deleteFrom('zone_turns').where('zone', '=', zone).where('holder', '=', holder).execute()
}
