import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'

/** The position up to which a target was scanned for a retention time; empty: from the start. */
export async function selectCursor(db: Db, name: string, days: number): Promise<string> {
  const row = await db
    .selectFrom('retention_cursors')
    .select('position')
    .where('kind', '=', name)
    .where('days', '=', days)
    .executeTakeFirst()
  return row?.position ?? ''
}

export async function upsertCursor(db: Db, name: string, days: number, position: string): Promise<void> {
  await insertRows(
    db,
    'retention_cursors',
    [{ kind: name, days, position }],
    'ON DUPLICATE KEY UPDATE position = VALUES(position)',
  )
}

/** Makes the scans of all targets of this kind, such as `attachments.in` and `attachments.out`, start again. */
export async function deleteCursors(db: Db, kind: string): Promise<void> {
  await db
    .deleteFrom('retention_cursors')
    .where(where => where.or([where('kind', '=', kind), where('kind', 'like', `${kind}.%`)]))
    .execute()
}

/** An item that could not be cleared yet, and when to try again. */
export interface DeferredItem {
  readonly id: string
  readonly againAt: Instant
}

export async function insertDeferred(db: Db, name: string, items: readonly DeferredItem[]): Promise<void> {
  const rows = items.map(({ id, againAt }) => ({ kind: name, item_id: id, again_at: againAt }))
  await insertRows(db, 'retention_waiting', rows, 'ON DUPLICATE KEY UPDATE again_at = VALUES(again_at)')
}

export async function selectDeferred(db: Db, name: string, now: Instant, limit: number): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('retention_waiting')
    .select('item_id')
    .where('kind', '=', name)
    .where('again_at', '<=', now)
    .orderBy('again_at')
    .limit(sql.lit(limit))
    .execute()
  return rows.map(row => row.item_id)
}

export async function deleteDeferred(db: Db, name: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await db.deleteFrom('retention_waiting').where('kind', '=', name).where('item_id', 'in', ids).execute()
}
