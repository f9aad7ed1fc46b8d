import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema, Flag } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** What retention reads of a sent email. */
export interface RetentionEmailRow {
  readonly id: Id<'eml'>
  readonly organization_id: Id<'org'>
  readonly brand_id: Id<'brd'>
  readonly created_at: Instant
  readonly scheduled_at: Instant | null
  readonly sent_at: Instant | null
  readonly attachments: DatabaseSchema['emails']['attachments']
  readonly blob_id: Id<'blb'>
  /** Of the content; null: it was deleted. */
  readonly size: number | string | null
  readonly content_purged_at: Instant | null
  readonly attachments_purged_at: Instant | null
  /** It is still to be sent to some recipient. */
  readonly is_unsent: Flag | string
}

const isUnsent = (email: string) =>
  sql.raw(`(${email}.status IN ('scheduled', 'queued', 'sending')
    OR EXISTS (SELECT 1 FROM outbox o WHERE o.email_id = ${email}.id))`)

async function selectEmailRows(db: Db, rest: RawBuilder<unknown>): Promise<readonly RetentionEmailRow[]> {
  const { rows } = await sql<RetentionEmailRow>`SELECT STRAIGHT_JOIN e.id, e.organization_id, e.brand_id, e.created_at,
      e.scheduled_at, e.sent_at, e.attachments, e.blob_id, b.size, e.content_purged_at, e.attachments_purged_at,
      ${isUnsent('e')} AS is_unsent
    FROM emails e LEFT JOIN blobs b ON b.id = e.blob_id ${rest}`.execute(db)
  return rows
}

/** The emails after an id, in the order of ids, which is roughly that of acceptance. */
export async function selectEmailsAfter(db: Db, after: string, limit: number): Promise<readonly RetentionEmailRow[]> {
  return await selectEmailRows(db, sql`WHERE e.id > ${after} ORDER BY e.id LIMIT ${sql.lit(limit)}`)
}

export async function selectEmailsById(db: Db, ids: readonly string[]): Promise<readonly RetentionEmailRow[]> {
  return ids.length === 0 ? [] : await selectEmailRows(db, sql`WHERE e.id IN (${sql.join(ids)})`)
}

/** Locks those of the emails that are not to be sent to anybody any more. */
async function lockSent(tx: Db, ids: readonly string[]): Promise<readonly Id<'eml'>[]> {
  const { rows } = await sql<{ readonly id: Id<'eml'>; readonly is_unsent: Flag | string }>`
    SELECT e.id, ${isUnsent('e')} AS is_unsent FROM emails e
    WHERE e.id IN (${sql.join(ids)}) ORDER BY e.id FOR UPDATE`.execute(tx)
  return rows.filter(row => Number(row.is_unsent) === 0).map(row => row.id)
}

/** Removes the content from those of the emails that are no longer to be sent; gives their ids. */
export async function updateContentPurged(tx: Db, ids: readonly string[], now: Instant): Promise<readonly Id<'eml'>[]> {
  const sent = await lockSent(tx, ids)
  if (sent.length > 0)
    await tx
      .updateTable('emails')
      .set({ blob_id: '' as Id<'blb'>, content_purged_at: now })
      .where('id', 'in', sent)
      .where('content_purged_at', 'is', null)
      .execute()
  return sent
}

/** Replaces the content by that without attachments. False: the email is still to be sent, and nothing changed. */
export async function updateEmailBlob(
  tx: Db,
  id: Id<'eml'>,
  blobs: { readonly from: Id<'blb'>; readonly to: Id<'blb'> },
  now: Instant,
): Promise<boolean> {
  if ((await lockSent(tx, [id])).length === 0) return false
  await tx
    .updateTable('emails')
    .set({ blob_id: blobs.to, attachments_purged_at: now })
    .where('id', '=', id)
    .where('blob_id', '=', blobs.from)
    .execute()
  return true
}

/** What retention reads of an event, with the brand of its email. */
export interface RetentionEventRow {
  readonly id: Id<'evt'>
  readonly organization_id: Id<'org'>
  readonly brand_id: Id<'brd'> | null
  readonly recorded_at: Instant
  readonly bytes: number | string
  readonly is_unsent: Flag | string
}

async function selectEventRows(db: Db, rest: RawBuilder<unknown>): Promise<readonly RetentionEventRow[]> {
  const { rows } = await sql<RetentionEventRow>`SELECT STRAIGHT_JOIN v.id, v.organization_id, e.brand_id, v.recorded_at,
      250 + COALESCE(LENGTH(v.detail), 0) + COALESCE(LENGTH(v.bounce), 0) + LENGTH(v.extra) AS bytes,
      COALESCE(${isUnsent('e')}, 0) AS is_unsent
    FROM email_events v LEFT JOIN emails e ON e.id = v.email_id ${rest}`.execute(db)
  return rows
}

/** The events after an id, in the order of ids, which is roughly that of recording. */
export async function selectEventsAfter(db: Db, after: string, limit: number): Promise<readonly RetentionEventRow[]> {
  return await selectEventRows(db, sql`WHERE v.id > ${after} ORDER BY v.id LIMIT ${sql.lit(limit)}`)
}

export async function selectEventsById(db: Db, ids: readonly string[]): Promise<readonly RetentionEventRow[]> {
  return ids.length === 0 ? [] : await selectEventRows(db, sql`WHERE v.id IN (${sql.join(ids)})`)
}

export async function deleteEvents(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await db
      .deleteFrom('email_events')
      .where('id', 'in', ids as readonly Id<'evt'>[])
      .execute()
}
