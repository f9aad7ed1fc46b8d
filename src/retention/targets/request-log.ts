import { deleteRequests, type RetentionRequestRow, selectRequestsAfter } from './request-log-table.ts'
import type { RetainedItem, RetentionTarget } from './target.ts'

/** A row with its keys, about. */
const bytesEach = 400

/** The requests to the API. */
export const requestLogTarget: RetentionTarget = {
  kind: 'request_log',
  name: 'request_log',
  batchSize: 1000,
  async selectAfter(db, after, before, most) {
    const [at = '', organizationId = ''] = after.split('|')
    const rows = await selectRequestsAfter(db, { at: at || '1970-01-01', organizationId }, before, most)
    return rows.map(toRetainedItem)
  },
  // None ever waits.
  selectByIds: () => Promise.resolve([]),
  async clear({ db }, items) {
    for (const [organizationId, of] of Map.groupBy(items, retainedItem => retainedItem.organizationId))
      await deleteRequests(
        db,
        organizationId,
        of.map(retainedItem => retainedItem.enteredAt),
      )
    return []
  },
}

function toRetainedItem(row: RetentionRequestRow): RetainedItem {
  return {
    position: `${row.created_at}|${row.organization_id}`,
    id: row.id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    enteredAt: row.created_at,
    retainedFrom: row.created_at,
    bytes: bytesEach,
    isCleared: false,
    isInUse: false,
  }
}
