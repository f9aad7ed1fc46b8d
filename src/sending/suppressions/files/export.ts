import { type Instant, toIso } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import type { Id } from '../../../base/ids.ts'
import { liveSuppression } from '../suppress.ts'
import { type SuppressionFilter, selectSuppressions } from '../table.ts'
import type { SuppressionEntry } from './import.ts'

const batchSize = 500

/** All suppressions that a filter matches and that are live at `now`, newest first, in the form that import.ts reads. */
export async function* exportSuppressions(
  db: Db,
  filter: SuppressionFilter,
  now: Instant,
): AsyncGenerator<readonly SuppressionEntry[]> {
  for (let after: Id<'sup'> | null = null; ; ) {
    const rows = await selectSuppressions(db, filter, { after, limit: batchSize, now })
    yield rows
      .flatMap(row => liveSuppression(row, now) ?? [])
      .map(row => ({
        email: row.email,
        reason: row.reason,
        brand: row.brand_id,
        created_at: toIso(row.created_at),
        ...(row.expires_at !== null && { expires_at: toIso(row.expires_at) }),
        ...(row.unsubscribed_at !== null && { unsubscribed_at: toIso(row.unsubscribed_at) }),
        ...(row.evidence !== null && { evidence: row.evidence }),
      }))
    const last = rows.at(-1)
    if (!last || rows.length < batchSize) return
    after = last.id
  }
}
