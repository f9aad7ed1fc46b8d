import { type Selectable, sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import { insertRows } from '../../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../../base/database/schema.ts'
import { executeUpdate, padToPowerOfTwo, placeholders, selectRows } from '../../../base/database/select-rows.ts'
import type { Id } from '../../../base/ids.ts'
import type { EventType } from '../../event-types.ts'
import type { SequencedEvent } from '../../table.ts'

export type DeliveryRow = Selectable<DatabaseSchema['webhook_deliveries']>

const deliveryColumns = [
  'id',
  'webhook_id',
  'organization_id',
  'brand_id',
  'sequence',
  'event_id',
  'type',
  'status',
  'attempt',
  'at',
  'duration_ms',
  'http_status',
  'error',
  'response',
  'next_at',
] as const

const afterAttempt = ['status', 'attempt', 'at', 'duration_ms', 'http_status', 'error', 'response', 'next_at'] as const

/** Writes what became of attempts: the delivery of an event that has one already is changed. */
export async function upsertDeliveries(db: Db, rows: readonly DeliveryRow[]): Promise<void> {
  const changes = afterAttempt.map(name => `${name} = VALUES(${name})`).join(', ')
  await insertRows(db, 'webhook_deliveries', rows, `ON DUPLICATE KEY UPDATE ${changes}`)
}

/** Which deliveries of a webhook a list shows; null: any. */
export interface DeliveryFilter {
  readonly webhookId: Id<'whk'>
  readonly status: DeliveryRow['status'] | null
  readonly since: Instant | null
}

/** The place of a delivery in a list. */
export interface DeliveryPlace {
  readonly at: Instant
  readonly id: Id<'whd'>
}

/** At most `limit` deliveries after a place, those with the latest attempt first. */
export function selectDeliveries(
  db: Db,
  { webhookId, status, since }: DeliveryFilter,
  { after, limit }: { readonly after: DeliveryPlace | null; readonly limit: number },
): Promise<DeliveryRow[]> {
  let query = db.selectFrom('webhook_deliveries').select(deliveryColumns).where('webhook_id', '=', webhookId)
  if (status !== null) query = query.where('status', '=', status)
  if (since !== null) query = query.where('at', '>=', since)
  if (after !== null)
    query = query
      .where('at', '<=', after.at)
      .where(({ eb, or }) => or([eb('at', '<', after.at), eb('id', '<', after.id)]))
  return query.orderBy('at', 'desc').orderBy('id', 'desc').limit(sql.lit(limit)).execute()
}

export function lockDelivery(db: Db, webhookId: Id<'whk'>, id: Id<'whd'>): Promise<DeliveryRow | undefined> {
  return db
    .selectFrom('webhook_deliveries')
    .select(deliveryColumns)
    .where('id', '=', id)
    .where('webhook_id', '=', webhookId)
    .forUpdate()
    .executeTakeFirst()
}

/** Makes a delivery due now. */
export async function updateDeliveryDue(db: Db, id: Id<'whd'>, now: Instant): Promise<void> {
  await db.updateTable('webhook_deliveries').set({ status: 'retrying', next_at: now }).where('id', '=', id).execute()
}

/** Makes at most `limit` deliveries that wait for another attempt due now; gives how many those were. */
export async function updateWaitingDue(db: Db, webhookId: Id<'whk'>, now: Instant, limit: number): Promise<number> {
  return await executeUpdate(
    db,
    `UPDATE webhook_deliveries SET next_at = ? WHERE webhook_id = ? AND next_at > ? ORDER BY next_at LIMIT ${limit}`,
    [now, webhookId, now],
  )
}

/** The sequences among these whose events the webhook has a delivery of. */
export async function selectDeliveredSequences(
  db: Db,
  webhookId: Id<'whk'>,
  sequences: readonly number[],
): Promise<ReadonlySet<number>> {
  if (sequences.length === 0) return new Set()
  const padded = padToPowerOfTwo(sequences.map(String))
  const rows = await selectRows<{ readonly sequence: number | string }>(
    db,
    `SELECT sequence FROM webhook_deliveries WHERE webhook_id = ? AND sequence IN (${placeholders(padded)})`,
    [webhookId, ...padded],
  )
  return new Set(rows.map(row => Number(row.sequence)))
}

/** A delivery that is due, with its event; `event` null: the event is not kept any more. */
export interface DueDelivery {
  readonly delivery: Pick<DeliveryRow, 'id' | 'sequence' | 'event_id' | 'type' | 'brand_id' | 'attempt'>
  readonly event: SequencedEvent | null
}

type DueRow = DueDelivery['delivery'] & {
  readonly known: Id<'evt'> | null
  readonly event_brand_id: Id<'brd'> | null
  readonly organization_id: Id<'org'>
  readonly mailbox_id: Id<'mbx'> | null
  readonly occurred_at: Instant
  readonly data: string
}

/** At most `limit` deliveries of a webhook that are due, the longest due first. */
export async function selectDueDeliveries(
  db: Db,
  webhookId: Id<'whk'>,
  now: Instant,
  limit: number,
): Promise<readonly DueDelivery[]> {
  const rows = await selectRows<DueRow>(
    db,
    `SELECT d.id, d.sequence, d.event_id, d.type, d.brand_id, d.attempt, d.organization_id, e.id AS known,
        e.brand_id AS event_brand_id, e.mailbox_id, e.occurred_at, e.data
      FROM webhook_deliveries d FORCE INDEX (webhook_deliveries_due)
      LEFT JOIN event_numbers n ON n.sequence = d.sequence LEFT JOIN events e ON e.position = n.position
      WHERE d.webhook_id = ? AND d.next_at <= ? ORDER BY d.next_at LIMIT ${limit}`,
    [webhookId, now],
  )
  return rows.map(row => {
    const { id, event_id, type, brand_id, attempt } = row
    const sequence = Number(row.sequence)
    const event: SequencedEvent | null =
      row.known === null
        ? null
        : {
            sequence,
            id: row.known,
            organization_id: row.organization_id,
            brand_id: row.event_brand_id,
            mailbox_id: row.mailbox_id,
            type: type as EventType,
            occurred_at: row.occurred_at,
            data: row.data,
          }
    return { delivery: { id, sequence, event_id, type, brand_id, attempt }, event }
  })
}
