import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export type TaskRow = DatabaseSchema['operator_tasks']

export async function insertTask(db: Db, row: TaskRow): Promise<void> {
  await db.insertInto('operator_tasks').values(row).execute()
}

/** Records how far a task has come, and that its process works on it until `aliveUntil` at least. */
export async function updateTaskProgress(
  db: Db,
  id: Id<'tsk'>,
  progress: TaskRow['progress'],
  aliveUntil: Instant,
): Promise<void> {
  await db
    .updateTable('operator_tasks')
    .set({ progress, alive_until: aliveUntil })
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .execute()
}

export async function updateTaskFinished(
  db: Db,
  id: Id<'tsk'>,
  outcome: Pick<TaskRow, 'finished_at' | 'progress' | 'result' | 'error'>,
): Promise<void> {
  await db.updateTable('operator_tasks').set(outcome).where('id', '=', id).execute()
}

/** The newest `limit` tasks, the newest first. */
export async function selectTasks(db: Db, limit: number): Promise<readonly TaskRow[]> {
  return await db.selectFrom('operator_tasks').selectAll().orderBy('id', 'desc').limit(sql.lit(limit)).execute()
}

export async function selectTask(db: Db, id: Id<'tsk'>): Promise<TaskRow | undefined> {
  return await db.selectFrom('operator_tasks').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Deletes finished tasks that began before `before`. */
export async function deleteOldTasks(db: Db, before: Instant): Promise<void> {
  await db.deleteFrom('operator_tasks').where('started_at', '<', before).limit(1000).execute()
}
