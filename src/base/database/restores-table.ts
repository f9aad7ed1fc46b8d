import { sql } from 'kysely'
import type { Instant } from '../clock.ts'
import type { Db } from './database.ts'

/** A restore into this database was not finished; the message tells the operator what to do. */
export class UnfinishedRestoreError extends Error {
  override readonly name = 'UnfinishedRestoreError'
}

/** @throws UnfinishedRestoreError */
export async function requireNoUnfinishedRestore(db: Db): Promise<void> {
  const restore = await selectRestore(db)
  if (restore && restore.finished_at === null)
    throw new UnfinishedRestoreError(
      `The restore of backup ${restore.id} into this database was not finished: run the same \`mailroom restore\` again, which resumes where it stopped, or use another, empty database.`,
    )
}

/** The restore into this database; undefined: there was none. */
export async function selectRestore(db: Db) {
  const { rows } = await sql`SELECT 1 FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name = 'restores'`.execute(db)
  if (rows.length === 0) return undefined
  return await db.selectFrom('restores').select(['id', 'steps_done', 'finished_at']).executeTakeFirst()
}

export async function insertRestore(db: Db, id: string, now: Instant): Promise<void> {
  await db.insertInto('restores').values({ id, started_at: now, steps_done: 0, finished_at: null }).execute()
}

/** Records how many steps of the restore are done. To be called in the transaction of the step. */
export async function updateRestoreStep(tx: Db, id: string, stepsDone: number): Promise<void> {
  await tx.updateTable('restores').set({ steps_done: stepsDone }).where('id', '=', id).execute()
}

export async function updateRestoreFinished(db: Db, id: string, now: Instant): Promise<void> {
  await db.updateTable('restores').set({ finished_at: now }).where('id', '=', id).execute()
}
