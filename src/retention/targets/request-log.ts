import { deleteRequests, type RetentionRequestRow, selectRequestsAfter } from './request-log-table.ts'
import type { RetainedItem, RetentionTarget } from './target.ts'

/** Of a row with its index entries, roughly. */
const rowBytes = 400

/** The log of requests to the API. */
export const requestLogTarget: RetentionTarget = {
  kind: 'request_log',
  name: 'request_log',
  batchSize: 1000,
  async selectAfter(db, after, before, limit) {
    const [at = '', organizationId = ''] = after.split('|')
    const rows = await selectRequestsAfter(db, { at: at || '1970-01-01', organizationId }, before, limit)
    return rows.map(toRetainedItem)
  },
  // A request is never in use, so none is deferred.
  selectByIds: () => Promise.resolve([]),
  async clear({ db }, items) {
    for (const [organizationId, requests] of Map.groupBy(items, item => item.organizationId))
      await deleteRequests(
        db,
        organizationId,
        requests.map(item => item.enteredAt),
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
    bytes: rowBytes,
    isCleared: false,
    isInUse: false,
  }
}
