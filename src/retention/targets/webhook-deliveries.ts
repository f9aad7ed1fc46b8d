import type { RetainedItem, RetentionTarget } from './target.ts'
import {
  deleteWebhookDeliveries,
  type RetentionDeliveryRow,
  selectWebhookDeliveriesAfter,
} from './webhook-deliveries-table.ts'

/** Of a row with its index entries and half a kilobyte of a response, roughly. */
const rowBytes = 1000

/** What became of events at webhooks. What still waits for an attempt was tried less than a day ago, unless it is disabled. */
export const webhookDeliveriesTarget: RetentionTarget = {
  kind: 'webhook_deliveries',
  name: 'webhook_deliveries',
  batchSize: 1000,
  async selectAfter(db, after, before, limit) {
    const [at = '', id = ''] = after.split('|')
    const rows = await selectWebhookDeliveriesAfter(db, { at: at || '1970-01-01', id }, before, limit)
    return rows.map(toRetainedItem)
  },
  // A delivery is never in use, so none is deferred.
  selectByIds: () => Promise.resolve([]),
  async clear({ db }, items) {
    await deleteWebhookDeliveries(
      db,
      items.map(item => item.id),
    )
    return []
  },
}

function toRetainedItem(row: RetentionDeliveryRow): RetainedItem {
  return {
    position: `${row.at}|${row.id}`,
    id: row.id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    enteredAt: row.at,
    retainedFrom: row.at,
    bytes: rowBytes,
    isCleared: false,
    isInUse: false,
  }
}
