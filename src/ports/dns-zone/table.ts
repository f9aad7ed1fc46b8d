import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Schema } from '../../base/database/schema.ts'
import type { HeldRecord, ZoneRecord } from './port.ts'

type LocalRow = Schema['local_records']

const columns = ['id', 'type', 'name', 'value', 'priority', 'ttl', 'mark', 'created_at', 'updated_at'] as const

/** Keeps every other writer of the zone waiting until the transaction ends. */
export async function lockZone(db: Db, name: string): Promise<void> {
  await db.insertInto('local_zones').values({ name }).onDuplicateKeyUpdate({ name }).execute()
}

/** The records of this name, in the order in which they were added. */
export async function localRecordsAt(db: Db, name: string): Promise<readonly HeldRecord[]> {
  const rows = await db
    .selectFrom('local_records')
    .select(columns)
    .where('name', '=', name)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toHeld)
}

/** The records of this name and of all names below it. */
export async function localRecordsUnder(db: Db, name: string): Promise<readonly HeldRecord[]> {
  const below = `%.${name.replace(/[\\%_]/g, '\\$&')}`
  const rows = await db
    .selectFrom('local_records')
    .select(columns)
    .where(each => each.or([each('name', '=', name), each('name', 'like', below)]))
    .orderBy('id')
    .execute()
  return rows.map(toHeld)
}

export async function localRecordById(db: Db, id: string): Promise<HeldRecord | undefined> {
  const row = await db
    .selectFrom('local_records')
    .select(columns)
    .where('id', '=', id as LocalRow['id'])
    .executeTakeFirst()
  return row && toHeld(row)
}

export async function insertLocalRecord(db: Db, record: HeldRecord, at: Instant): Promise<void> {
  await db
    .insertInto('local_records')
    .values({ ...toRow(record), id: record.id as LocalRow['id'], created_at: at })
    .execute()
}

export async function updateLocalRecord(db: Db, record: HeldRecord): Promise<void> {
  await db
    .updateTable('local_records')
    .set(toRow(record))
    .where('id', '=', record.id as LocalRow['id'])
    .execute()
}

export async function deleteLocalRecord(db: Db, id: string): Promise<void> {
  await db
    .deleteFrom('local_records')
    .where('id', '=', id as LocalRow['id'])
    .execute()
}

/** Gives a zone to `holder` until then, unless another one holds it now. Did they get it? */
export async function takeZone(
  db: Db,
  turn: { readonly zone: string; readonly holder: string; readonly now: Instant; readonly until: Instant },
): Promise<boolean> {
  const { zone, holder, now, until } = turn
  const { numUpdatedRows } = await db
    .updateTable('zone_turns')
    .set({ holder, until })
    .where('zone', '=', zone)
    .where('until', '<=', now)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) return true
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('zone_turns')
    .ignore()
    .values({ zone, holder, until })
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

export async function leaveZone(db: Db, zone: string, holder: string): Promise<void> {
  await db.deleteFrom('zone_turns').where('zone', '=', zone).where('holder', '=', holder).execute()
}

function toRow({ type, name, value, priority, ttlSeconds, mark, updatedAt }: HeldRecord) {
  return { type, name, value, priority, ttl: ttlSeconds, mark, updated_at: updatedAt }
}

function toHeld(row: LocalRow): HeldRecord {
  const { id, name, value, priority, ttl, mark } = row
  const type = row.type as ZoneRecord['type']
  return {
    id,
    type,
    name,
    value,
    priority,
    ttlSeconds: ttl,
    mark,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
