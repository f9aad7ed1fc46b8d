import { deleteRequests, type RequestRow, selectRequestsAfter } from './requests-table.ts'
import type { Kept, Shelf } from './target.ts'

/** A row with its keys, about. */
const bytesEach = 400

/** The requests to the API. */
export const requestLog: Shelf = {
  kind: 'request_log',
  name: 'request_log',
  atOnce: 1000,
  async next(db, after, before, most) {
    const [at = '', organizationId = ''] = after.split('|')
    const rows = await selectRequestsAfter(db, { at: at || '1970-01-01', organizationId }, before, most)
    return rows.map(keptOf)
  },
  // None ever waits.
  find: () => Promise.resolve([]),
  async clear({ db }, items) {
    for (const [organizationId, of] of Map.groupBy(items, each => each.organizationId))
      await deleteRequests(
        db,
        organizationId,
        of.map(each => each.placedAt),
      )
    return []
  },
}

function keptOf(row: RequestRow): Kept {
  return {
    position: `${row.created_at}|${row.organization_id}`,
    id: row.id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    placedAt: row.created_at,
    countsFrom: row.created_at,
    bytes: bytesEach,
    isCleared: false,
    isHeld: false,
  }
}
