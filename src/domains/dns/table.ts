import { type Selectable, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type DatabaseSchema, type Flag, toJson } from '../../base/database/schema.ts'
import { type Id, newId } from '../../base/ids.ts'
import type { RecordCheck } from './check-record.ts'
import type { ExpectedRecord } from './records.ts'

/** An expected DNS record of a domain, with the result of its last check. */
export type DomainRecordRow = Omit<Selectable<DatabaseSchema['domain_records']>, 'checked_at'>

/** The stored records of these domains, oldest first. */
export async function selectRecords(db: Db, domainIds: readonly Id<'dom'>[]): Promise<readonly DomainRecordRow[]> {
  if (domainIds.length === 0) return []
  return db
    .selectFrom('domain_records')
    .select([
      'id',
      'domain_id',
      'purpose',
      'type',
      'name',
      'value',
      'priority',
      'required',
      'status',
      'found',
      'detail',
    ])
    .where('domain_id', 'in', domainIds)
    .orderBy('id')
    .execute()
}

/** The stored record in the form in which it is compared with DNS and published. */
export function toExpectedRecord(row: DomainRecordRow): ExpectedRecord<DomainRecordRow['purpose']> {
  const { purpose, type, name, value, priority } = row
  return { purpose, type, name, value, priority, required: row.required === 1 }
}

/** Inserts an expected record or updates its value; a changed value makes it pending again. */
export async function upsertRecord(
  db: Db,
  domainId: Id<'dom'>,
  record: ExpectedRecord<DomainRecordRow['purpose']>,
): Promise<void> {
  const { purpose, type, name, value, priority } = record
  const required: Flag = record.required ? 1 : 0
  await db
    .insertInto('domain_records')
    .values({
      id: newId('rec'),
      domain_id: domainId,
      purpose,
      type,
      name,
      value,
      priority,
      required,
      status: 'pending',
      found: toJson([]),
      checked_at: null,
    })
    .onDuplicateKeyUpdate({
      // Assignments are evaluated from left to right: the status compares with the old value.
      status: sql`IF(value = ${value}, status, 'pending')`,
      detail: sql`IF(value = ${value}, detail, NULL)`,
      value,
      priority,
      required,
    })
    .execute()
}

/** Deletes the stored records of this purpose. */
export async function deleteRecords(db: Db, domainId: Id<'dom'>, purpose: DomainRecordRow['purpose']): Promise<void> {
  await db.deleteFrom('domain_records').where('domain_id', '=', domainId).where('purpose', '=', purpose).execute()
}

/** Deletes one stored record. */
export async function deleteRecord(
  db: Db,
  domainId: Id<'dom'>,
  purpose: DomainRecordRow['purpose'],
  name: string,
): Promise<void> {
  await db
    .deleteFrom('domain_records')
    .where('domain_id', '=', domainId)
    .where('purpose', '=', purpose)
    .where('name', '=', name)
    .execute()
}

export async function updateRecordCheck(
  db: Db,
  recordId: Id<'rec'>,
  { status, found, detail }: RecordCheck,
  at: Instant,
): Promise<void> {
  await db
    .updateTable('domain_records')
    .set({ status, found: toJson(found), detail: detail ?? null, checked_at: at })
    .where('id', '=', recordId)
    .execute()
}
