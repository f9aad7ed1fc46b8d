import { sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import { selectRows } from '../../../base/database/select-rows.ts'
import type { Id } from '../../../base/ids.ts'

/**
 * The last sequence of the organization of a webhook `w`, which is one index look-up: EXISTS of a sequence above `read_through`
 * would go through all events of the organization. MySQL reads the index backwards only where all of it is in the order.
 */
const lastOfOrganization = sql`(SELECT n.sequence FROM event_numbers n FORCE INDEX (event_numbers_organization)
  WHERE n.organization_id = w.organization_id ORDER BY n.organization_id DESC, n.sequence DESC LIMIT 1)`

/**
 * Webhooks with an event after the last that they passed, or a delivery that is due; without those that another process has.
 * Two index look-ups a webhook.
 * @param holder names this process
 */
export async function selectPendingWebhooks(
  db: Db,
  { holder, now, limit }: { readonly holder: string; readonly now: Instant; readonly limit: number },
): Promise<readonly Id<'whk'>[]> {
  const { rows } = await sql<{ readonly id: Id<'whk'> }>`
    SELECT w.id FROM webhooks w
    WHERE w.disabled_at IS NULL AND (w.leased_until IS NULL OR w.leased_until <= ${now} OR w.lease = ${holder})
      AND (${lastOfOrganization} > w.read_through
        OR EXISTS (SELECT 1 FROM webhook_deliveries d FORCE INDEX (webhook_deliveries_due)
          WHERE d.webhook_id = w.id AND d.next_at <= ${now}))
    LIMIT ${sql.lit(limit)}`.execute(db)
  return rows.map(row => row.id)
}

/** Leases these webhooks, to which `holder` does not deliver now, unless another process has them; gives those that it got. */
export async function claimWebhooks(
  db: Db,
  ids: readonly Id<'whk'>[],
  { holder, now, until }: { readonly holder: string; readonly now: Instant; readonly until: Instant },
): Promise<readonly Id<'whk'>[]> {
  if (ids.length === 0) return []
  await db
    .updateTable('webhooks')
    .set({ lease: holder, leased_until: until })
    .where('id', 'in', ids)
    .where('disabled_at', 'is', null)
    .where(where =>
      where.or([where('leased_until', 'is', null), where('leased_until', '<=', now), where('lease', '=', holder)]),
    )
    .execute()
  return await selectLeased(db, ids, holder)
}

/** Renews the leases of these webhooks; gives those that `holder` still has. */
export async function renewWebhookLeases(
  db: Db,
  ids: readonly Id<'whk'>[],
  { holder, until }: { readonly holder: string; readonly until: Instant },
): Promise<ReadonlySet<Id<'whk'>>> {
  if (ids.length === 0) return new Set()
  await db
    .updateTable('webhooks')
    .set({ leased_until: until })
    .where('id', 'in', ids)
    .where('lease', '=', holder)
    .execute()
  return new Set(await selectLeased(db, ids, holder))
}

async function selectLeased(db: Db, ids: readonly Id<'whk'>[], holder: string): Promise<readonly Id<'whk'>[]> {
  const rows = await db.selectFrom('webhooks').select('id').where('id', 'in', ids).where('lease', '=', holder).execute()
  return rows.map(row => row.id)
}

/** Ends the lease of `holder`, where it has it, and notes how far the webhook has read. */
export async function releaseWebhook(
  db: Db,
  id: Id<'whk'>,
  { holder, readThrough }: { readonly holder: string; readonly readThrough: number },
): Promise<void> {
  await db
    .updateTable('webhooks')
    .set({ lease: null, leased_until: null, read_through: sql<number>`GREATEST(read_through, ${readThrough})` })
    .where('id', '=', id)
    .where('lease', '=', holder)
    .execute()
}

/** Notes how far the webhook has read, under the lease. */
export async function updateReadThrough(
  db: Db,
  id: Id<'whk'>,
  { holder, readThrough }: { readonly holder: string; readonly readThrough: number },
): Promise<void> {
  await db
    .updateTable('webhooks')
    .set({ read_through: sql<number>`GREATEST(read_through, ${readThrough})` })
    .where('id', '=', id)
    .where('lease', '=', holder)
    .execute()
}

/** When the oldest event was recorded that a webhook which does not fail has not passed; null: all have passed all. */
export async function selectOldestUnread(db: Db): Promise<Instant | null> {
  const { rows: behind } = await sql<{ readonly organization_id: Id<'org'>; readonly read_through: number | string }>`
    SELECT w.organization_id, MIN(w.read_through) AS read_through FROM webhooks w
    WHERE w.disabled_at IS NULL AND w.failing_since IS NULL AND ${lastOfOrganization} > w.read_through
    GROUP BY w.organization_id`.execute(db)
  let oldest: Instant | null = null
  for (const { organization_id, read_through } of behind) {
    const [next] = await selectRows<{ readonly created_at: Instant }>(
      db,
      `SELECT e.created_at FROM event_numbers n FORCE INDEX (event_numbers_organization)
        STRAIGHT_JOIN events e ON e.position = n.position
        WHERE n.organization_id = ? AND n.sequence > ? ORDER BY n.sequence LIMIT 1`,
      [organization_id, String(read_through)],
    )
    if (next && (oldest === null || next.created_at < oldest)) oldest = next.created_at
  }
  return oldest
}
