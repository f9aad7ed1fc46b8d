import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** What retention reads of an event of the feed. */
export interface RetentionFeedRow {
  readonly position: number | string
  readonly organization_id: Id<'org'>
  readonly created_at: Instant
  readonly bytes: number | string
  /** null: readers have not seen it yet. */
  readonly sequence: number | string | null
}

async function selectFeedRows(db: Db, rest: RawBuilder<unknown>): Promise<readonly RetentionFeedRow[]> {
  const { rows } = await sql<RetentionFeedRow>`SELECT e.position, e.organization_id, e.created_at,
      400 + LENGTH(e.data) AS bytes, n.sequence
    FROM events e FORCE INDEX (PRIMARY) LEFT JOIN event_numbers n ON n.position = e.position ${rest}`.execute(db)
  return rows
}

/** The events after a position, in the order in which they were written. */
export function selectFeedEventsAfter(db: Db, after: string, limit: number): Promise<readonly RetentionFeedRow[]> {
  return selectFeedRows(db, sql`WHERE e.position > ${after} ORDER BY e.position LIMIT ${sql.lit(limit)}`)
}

export async function selectFeedEventsAt(db: Db, positions: readonly string[]): Promise<readonly RetentionFeedRow[]> {
  return positions.length === 0 ? [] : await selectFeedRows(db, sql`WHERE e.position IN (${sql.join(positions)})`)
}
