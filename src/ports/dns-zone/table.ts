import type { Instant } from '../../base/clock.ts'
import { type Db, isDuplicate } from '../../base/database.ts'
import type { Id } from '../../base/ids.ts'
import type { ZoneRecord } from './port.ts'

/** The records of this name and type, in the order in which they were added. */
export async function localRecords(
  db: Db,
  name: string,
  type: ZoneRecord['type'],
): Promise<readonly { readonly value: string; readonly priority: number | null; readonly ttl: number }[]> {
  return db
    .selectFrom('local_records')
    .select(['value', 'priority', 'ttl'])
    .where('name', '=', name)
    .where('type', '=', type)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** Adds a record under an id that stands for its content: the same record a second time changes nothing. */
export async function addLocalRecord(db: Db, id: Id<'rec'>, record: ZoneRecord, now: Instant): Promise<void> {
  const { type, name, value, priority, ttlSeconds } = record
  try {
    await db
      .insertInto('local_records')
      .values({ id, type, name, value, priority, ttl: ttlSeconds, created_at: now })
      .execute()
  } catch (error) {
    if (!isDuplicate(error, 'PRIMARY')) throw error
  }
}
