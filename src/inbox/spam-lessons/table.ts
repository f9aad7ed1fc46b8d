import { type Selectable, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema, Folder } from '../../base/database/schema.ts'
import { executeUpdate, padToPowerOfTwo, placeholders } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'

export type LessonRow = Selectable<DatabaseSchema['spam_lessons']>

export interface LessonsToInsert {
  readonly organizationId: Id<'org'>
  readonly ids: readonly Id<'msg'>[]
  readonly lesson: LessonRow['lesson']
  /** Only messages that are in one of these folders now. */
  readonly from: readonly Folder[]
  readonly now: Instant
  readonly dueAt: Instant
}

/** Inserts a lesson for each of these messages that can be learned from; it replaces one that has not been taught yet. */
export async function insertLessons(db: Db, lessons: LessonsToInsert): Promise<void> {
  const { organizationId, lesson, from, now, dueAt } = lessons
  const ids = padToPowerOfTwo(lessons.ids)
  await executeUpdate(
    db,
    `INSERT INTO spam_lessons (message_id, organization_id, lesson, due_at, attempts, created_at)
     SELECT id, organization_id, ?, ?, 0, ? FROM messages
     WHERE id IN (${placeholders(ids)}) AND organization_id = ? AND folder IN (${placeholders(from)})
       AND scan <> 'infected' AND raw_purged_at IS NULL
     ON DUPLICATE KEY UPDATE lesson = VALUES(lesson), due_at = VALUES(due_at), attempts = 0, created_at = VALUES(created_at)`,
    [lesson, dueAt, now, ...ids, organizationId, ...from],
  )
}

/** How many lessons of the organization wait, counted up to `most`. */
export async function countLessons(db: Db, organizationId: Id<'org'>, most: number): Promise<number> {
  const { rows } = await sql<{ readonly count: string | number }>`SELECT COUNT(*) AS count FROM
    (SELECT 1 FROM spam_lessons WHERE organization_id = ${organizationId} LIMIT ${sql.lit(most)}) AS some`.execute(db)
  return Number(rows[0]?.count ?? 0)
}

/** The lessons of all organizations that are due, the longest overdue first. */
export async function selectDueLessons(db: Db, now: Instant, limit: number): Promise<readonly LessonRow[]> {
  return await db
    .selectFrom('spam_lessons')
    .select(['message_id', 'organization_id', 'lesson', 'due_at', 'attempts', 'created_at'])
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(sql.lit(limit))
    .execute()
}

/** Makes a lesson due at `dueAt`. False: another process has claimed it, or it was replaced. */
export async function updateLessonDue(
  db: Db,
  row: LessonRow,
  { dueAt, attempts }: Pick<LessonRow, 'attempts'> & { readonly dueAt: Instant },
): Promise<boolean> {
  const { numUpdatedRows } = await unchanged(
    db.updateTable('spam_lessons').set({ due_at: dueAt, attempts }),
    row,
  ).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Deletes a lesson, unless it was replaced meanwhile. */
export async function deleteLesson(db: Db, row: LessonRow): Promise<void> {
  await unchanged(db.deleteFrom('spam_lessons'), row).execute()
}

interface Conditional<Query> {
  where(column: 'message_id' | 'organization_id' | 'due_at', operator: '=', value: string): Query
}

function unchanged<Query extends Conditional<Query>>(query: Query, row: LessonRow): Query {
  return query
    .where('message_id', '=', row.message_id)
    .where('organization_id', '=', row.organization_id)
    .where('due_at', '=', row.due_at)
}

/** Where the message of a lesson is now, and its bytes; undefined: they are gone. */
export async function selectLessonMessage(db: Db, { message_id, organization_id }: LessonRow) {
  return await db
    .selectFrom('messages')
    .innerJoin('blobs', 'blobs.id', 'messages.blob_id')
    .select(['messages.folder', 'messages.scan', 'messages.blob_id', 'blobs.size'])
    .where('messages.id', '=', message_id)
    .where('messages.organization_id', '=', organization_id)
    .executeTakeFirst()
}
