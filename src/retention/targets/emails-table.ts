import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema, Flag } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** A sent email as retention looks at it. */
export interface RetentionEmailRow {
  readonly id: Id<'eml'>
  readonly organization_id: Id<'org'>
  readonly brand_id: Id<'brd'>
  readonly created_at: Instant
  readonly scheduled_at: Instant | null
  readonly sent_at: Instant | null
  readonly attachments: DatabaseSchema['emails']['attachments']
  readonly blob_id: Id<'blb'>
  /** null: it was removed. */
  readonly size: number | string | null
  readonly content_purged_at: Instant | null
  readonly attachments_purged_at: Instant | null
  /** Something of it is still to be sent. */
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

/** Emails after `after` by id, which is about the order in which they were accepted. */
export async function selectEmailsAfter(db: Db, after: string, most: number): Promise<readonly RetentionEmailRow[]> {
  return await selectEmailRows(db, sql`WHERE e.id > ${after} ORDER BY e.id LIMIT ${sql.lit(most)}`)
}

export async function selectEmailsById(db: Db, ids: readonly string[]): Promise<readonly RetentionEmailRow[]> {
  return ids.length === 0 ? [] : await selectEmailRows(db, sql`WHERE e.id IN (${sql.join(ids)})`)
}

/** Those of the emails of which nothing is to be sent, locked until the transaction ends. */
async function lockSent(tx: Db, ids: readonly string[]): Promise<readonly Id<'eml'>[]> {
  const { rows } = await sql<{ readonly id: Id<'eml'>; readonly is_unsent: Flag | string }>`
    SELECT e.id, ${isUnsent('e')} AS is_unsent FROM emails e
    WHERE e.id IN (${sql.join(ids)}) ORDER BY e.id FOR UPDATE`.execute(tx)
  return rows.filter(row => Number(row.is_unsent) === 0).map(row => row.id)
}

/** Lets go of the content of those of the emails that are sent; which those were. */
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

/** Puts the message without its attachments in the place of the one with them, where it is sent. Was it? */
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

/** An event as retention looks at it, with its email's brand. */
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

/** Events after `after` by id, which is about the order in which they were recorded. */
export async function selectEventsAfter(db: Db, after: string, most: number): Promise<readonly RetentionEventRow[]> {
  return await selectEventRows(db, sql`WHERE v.id > ${after} ORDER BY v.id LIMIT ${sql.lit(most)}`)
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
