import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** What retention reads of a delivery. */
export interface RetentionDeliveryRow {
  readonly id: string
  readonly organization_id: Id<'org'>
  readonly brand_id: Id<'brd'> | null
  readonly at: Instant
}

/** The deliveries whose last attempt was before a time, in that order, after a given one. */
export async function selectWebhookDeliveriesAfter(
  db: Db,
  after: { readonly at: string; readonly id: string },
  before: Instant,
  limit: number,
): Promise<readonly RetentionDeliveryRow[]> {
  const { rows } = await sql<RetentionDeliveryRow>`
    SELECT id, organization_id, brand_id, at FROM webhook_deliveries FORCE INDEX (webhook_deliveries_age)
    WHERE at >= ${after.at} AND (at > ${after.at} OR id > ${after.id}) AND at < ${before}
    ORDER BY at, id LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

export async function deleteWebhookDeliveries(db: Db, ids: readonly string[]): Promise<void> {
  await db
    .deleteFrom('webhook_deliveries')
    .where('id', 'in', ids as readonly Id<'whd'>[])
    .execute()
}
