import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'

const isElsewhere = (place: string | null) => sql<boolean>`NOT (enrolled_with <=> ${place})`

/** Of the verified domains that are not enrolled at `place`, takes at most `most` back, `why` told; says how many. */
export async function updateUnenrolledToPending(
  db: Db,
  place: string,
  { why, most }: { readonly why: string; readonly most: number },
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('domains')
    .set({ status: 'pending', misses: 0, provider_error: why })
    .where('status', '=', 'verified')
    .where(isElsewhere(place))
    .limit(sql.lit(most))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Has at most `most` of the domains that are enrolled elsewhere than at `place` looked at now; says how many. */
export async function updateNextCheckToNow(
  db: Db,
  place: string | null,
  { now, most }: { readonly now: Instant; readonly most: number },
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('domains')
    .set({ next_check_at: now, checks_unchanged: 0 })
    .where('next_check_at', '>', now)
    .where(isElsewhere(place))
    .limit(sql.lit(most))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
