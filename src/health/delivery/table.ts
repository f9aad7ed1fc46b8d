import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { EmailStatus } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** How many emails of a day (UTC, `YYYY-MM-DD`, of their acceptance) have a status now. */
export interface DayStatusCount {
  readonly day: string
  readonly status: EmailStatus
  readonly count: number
}

/** Counts the emails of these brands that were accepted since `since`, from ranges of the index alone. */
export async function countByDay(
  db: Db,
  brandIds: readonly Id<'brd'>[],
  statuses: readonly EmailStatus[],
  since: Instant,
): Promise<readonly DayStatusCount[]> {
  if (brandIds.length === 0) return []
  const { rows } = await sql<{ readonly day: string; readonly status: EmailStatus; readonly count: number | string }>`
    SELECT SUBSTRING(created_at, 1, 10) AS day, status, COUNT(*) AS count
    FROM emails FORCE INDEX (emails_brand_status)
    WHERE brand_id IN (${sql.join(brandIds)}) AND status IN (${sql.join(statuses)}) AND created_at >= ${since}
    GROUP BY day, status`.execute(db)
  return rows.map(({ day, status, count }) => ({ day, status, count: Number(count) }))
}
