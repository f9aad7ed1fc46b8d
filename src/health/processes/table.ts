import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'

export type ProcessRow = DatabaseSchema['processes']

/** Records that a process runs. */
export async function upsertProcess(db: Db, row: ProcessRow): Promise<void> {
  await insertRows(
    db,
    'processes',
    [row],
    'ON DUPLICATE KEY UPDATE seen_at = VALUES(seen_at), breaker_opened_at = VALUES(breaker_opened_at), breaker_reply = VALUES(breaker_reply)',
  )
}

export async function deleteProcess(db: Db, id: string): Promise<void> {
  await db.deleteFrom('processes').where('id', '=', id).execute()
}

/** Deletes the rows of processes that were last seen before `before`. */
export async function deleteProcessesSeenBefore(db: Db, before: Instant): Promise<void> {
  await db.deleteFrom('processes').where('seen_at', '<', before).limit(1000).execute()
}

/** At most `limit` processes, those that began last first. */
export async function selectProcesses(db: Db, limit: number): Promise<readonly ProcessRow[]> {
  return await db.selectFrom('processes').selectAll().orderBy('id', 'desc').limit(sql.lit(limit)).execute()
}
