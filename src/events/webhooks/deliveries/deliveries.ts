import { recordCallerEntry } from '../../../accounts/audit/audit.ts'
import type { Caller } from '../../../api/caller.ts'
import type { Reservation } from '../../../api/idempotency/reservation.ts'
import { storeResponse } from '../../../api/idempotency/store.ts'
import { cutPage, decodeCursor, invalidCursor, pageSize, readInstant } from '../../../api/page.ts'
import type { Tenant } from '../../../api/tenant.ts'
import { fromIso, toIso } from '../../../base/clock.ts'
import { inTransaction } from '../../../base/database/database.ts'
import { isId } from '../../../base/ids.ts'
import { refuse } from '../../../base/refusal.ts'
import type { WebhookRow } from '../table.ts'
import { loadWebhook, type WebhookDeps, webhookRefusals } from '../webhooks.ts'
import { type DeliveryJson, toJsonDelivery } from './schema.ts'
import { type DeliveryPlace, type DeliveryRow, lockDelivery, selectDeliveries, updateDeliveryDue } from './table.ts'

type DeliveriesDeps = Pick<WebhookDeps, 'db' | 'clock'>

/** The query parameters of a list of deliveries. */
export interface DeliveryQuery {
  readonly limit?: string
  readonly cursor?: string
  readonly status?: DeliveryRow['status']
  readonly since?: string
}

/** Deliveries of a webhook, the latest attempt first. @throws Refusal `not_found`, `brand_restricted`, `invalid_cursor` */
export async function listDeliveries(
  { db }: DeliveriesDeps,
  tenant: Tenant,
  webhookId: string,
  query: DeliveryQuery,
): Promise<{ data: DeliveryJson[]; next_cursor: string | null }> {
  const { id } = await loadWebhook(db, tenant, webhookId)
  const limit = pageSize(query.limit)
  const filter = {
    webhookId: id,
    status: query.status ?? null,
    since: query.since === undefined ? null : readInstant(query.since, 'since'),
  }
  const rows = await selectDeliveries(db, filter, { after: readPlace(query.cursor), limit: limit + 1 })
  const { page, next_cursor } = cutPage(rows, limit, last => [toIso(last.at), last.id])
  return { data: page.map(toJsonDelivery), next_cursor }
}

function readPlace(cursor: string | undefined): DeliveryPlace | null {
  if (cursor === undefined) return null
  const [time = '', id = ''] = decodeCursor(cursor, 2)
  const at = fromIso(time)
  if (at === undefined || !isId('whd', id)) throw invalidCursor(cursor)
  return { at, id }
}

/** The refusals of what delivers again. */
export const redeliverRefusals = [...webhookRefusals, 'webhook_disabled'] as const

/** @throws Refusal `webhook_disabled` */
export function requireEnabled(row: Pick<WebhookRow, 'id' | 'disabled_at'>): void {
  if (row.disabled_at === null) return
  throw refuse('webhook_disabled', { message: `The webhook ${row.id} is disabled; enable it first.` })
}

/** Makes a delivery again now, whatever became of it. @throws Refusal {@link redeliverRefusals} */
export async function retryDelivery(
  { db, clock }: DeliveriesDeps,
  caller: Caller,
  webhookId: string,
  deliveryId: string,
  reservation?: Reservation,
): Promise<DeliveryJson> {
  const webhook = await loadWebhook(db, caller, webhookId)
  requireEnabled(webhook)
  return inTransaction(db, async tx => {
    const row = isId('whd', deliveryId) ? await lockDelivery(tx, webhook.id, deliveryId) : undefined
    if (!row) throw refuse('not_found', { message: `There is no delivery ${deliveryId} of this webhook.` })
    const now = clock.now()
    await updateDeliveryDue(tx, row.id, now)
    await recordCallerEntry(tx, caller, clock, {
      action: 'webhook.retry',
      subject: webhook.id,
      detail: { delivery_id: row.id },
    })
    const json = toJsonDelivery({ ...row, status: 'retrying', next_at: now })
    await storeResponse(tx, reservation, { status: 200, body: json })
    return json
  })
}
