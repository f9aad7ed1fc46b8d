import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'

const isEnrolledElsewhere = (location: string | null) => sql<boolean>`NOT (enrolled_with <=> ${location})`

/** Sets up to `most` verified domains that are not enrolled with the provider at `location` to `pending`; resolves to how many. */
export async function updateUnenrolledToPending(
  db: Db,
  location: string,
  { reason, most }: { readonly reason: string; readonly most: number },
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('domains')
    .set({ status: 'pending', misses: 0, provider_error: reason })
    .where('status', '=', 'verified')
    .where(isEnrolledElsewhere(location))
    .limit(sql.lit(most))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Makes up to `most` domains that are enrolled elsewhere than at `location` due for a recheck now; resolves to how many. */
export async function updateNextCheckToNow(
  db: Db,
  location: string | null,
  { now, most }: { readonly now: Instant; readonly most: number },
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('domains')
    .set({ next_check_at: now, checks_unchanged: 0 })
    .where('next_check_at', '>', now)
    .where(isEnrolledElsewhere(location))
    .limit(sql.lit(most))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
