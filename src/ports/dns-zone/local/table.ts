import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import type { DatabaseSchema } from '../../../base/database/schema.ts'
import type { ExistingRecord, ZoneRecord } from '../port.ts'

type LocalRow = DatabaseSchema['local_records']

const columns = ['id', 'type', 'name', 'value', 'priority', 'ttl', 'mark', 'created_at', 'updated_at'] as const

/** Makes every other writer of the zone wait until the transaction ends. */
export async function lockLocalZone(db: Db, name: string): Promise<void> {
  await db.insertInto('local_zones').values({ name }).onDuplicateKeyUpdate({ name }).execute()
}

/** The records of this name, oldest first. */
export async function selectLocalRecordsAt(db: Db, name: string): Promise<readonly ExistingRecord[]> {
  const rows = await db
    .selectFrom('local_records')
    .select(columns)
    .where('name', '=', name)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toExistingRecord)
}

/** The records of this name and of all names below it. */
export async function selectLocalRecordsUnder(db: Db, name: string): Promise<readonly ExistingRecord[]> {
  const below = `%.${name.replace(/[\\%_]/g, '\\$&')}`
  const rows = await db
    .selectFrom('local_records')
    .select(columns)
    .where(eb => eb.or([eb('name', '=', name), eb('name', 'like', below)]))
    .orderBy('id')
    .execute()
  return rows.map(toExistingRecord)
}

export async function selectLocalRecord(db: Db, id: string): Promise<ExistingRecord | undefined> {
  const row = await db
    .selectFrom('local_records')
    .select(columns)
    .where('id', '=', id as LocalRow['id'])
    .executeTakeFirst()
  return row && toExistingRecord(row)
}

export async function insertLocalRecord(db: Db, record: ExistingRecord, at: Instant): Promise<void> {
  await db
    .insertInto('local_records')
    .values({ ...toRow(record), id: record.id as LocalRow['id'], created_at: at })
    .execute()
}

export async function updateLocalRecord(db: Db, record: ExistingRecord): Promise<void> {
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

function toRow({ type, name, value, priority, ttlSeconds, mark, updatedAt }: ExistingRecord) {
  return { type, name, value, priority, ttl: ttlSeconds, mark, updated_at: updatedAt }
}

function toExistingRecord(row: LocalRow): ExistingRecord {
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
