import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Flag, Folder } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** What retention reads of a received message. */
export interface RetentionMessageRow {
  readonly id: Id<'msg'>
  readonly organization_id: Id<'org'>
  readonly brand_id: Id<'brd'>
  readonly received_at: Instant
  readonly folder: Folder
  readonly folder_since: Instant | null
  readonly size: number
  readonly blob_id: Id<'blb'>
  readonly attachment_count: number
  /** Of the decoded attachments. */
  readonly attachment_bytes: number | string
  readonly raw_purged_at: Instant | null
  readonly attachments_purged_at: Instant | null
  /** It waits to be scanned again or to be indexed. */
  readonly is_in_use: Flag | string
}

const columns = sql`m.id, m.organization_id, m.brand_id, m.received_at, m.folder, m.folder_since, m.size, m.blob_id,
  m.attachment_count, m.raw_purged_at, m.attachments_purged_at,
  (m.rescan_at IS NOT NULL OR m.indexed = 0) AS is_in_use,
  CASE WHEN m.attachment_count = 0 THEN 0
    ELSE (SELECT COALESCE(SUM(a.size), 0) FROM attachments a WHERE a.message_id = m.id) END AS attachment_bytes`

async function selectMessageRows(db: Db, rest: RawBuilder<unknown>): Promise<readonly RetentionMessageRow[]> {
  const { rows } = await sql<RetentionMessageRow>`SELECT ${columns} FROM messages m ${rest}`.execute(db)
  return rows
}

/** The messages after an id, in the order of ids, which is roughly that of arrival. */
export async function selectMessagesAfter(
  db: Db,
  after: string,
  limit: number,
): Promise<readonly RetentionMessageRow[]> {
  return await selectMessageRows(db, sql`WHERE m.id > ${after} ORDER BY m.id LIMIT ${sql.lit(limit)}`)
}

/** The messages that came into a folder before a time, in that order, after a given one. */
export async function selectMessagesInFolder(
  db: Db,
  folder: Folder,
  after: { readonly since: string; readonly id: string },
  before: Instant,
  limit: number,
): Promise<readonly RetentionMessageRow[]> {
  // Neither server would use the index for a comparison of pairs.
  return await selectMessageRows(
    db,
    sql`FORCE INDEX (messages_leaving) WHERE m.folder = ${folder} AND m.folder_since >= ${after.since}
      AND (m.folder_since > ${after.since} OR m.id > ${after.id}) AND m.folder_since < ${before}
      ORDER BY m.folder_since, m.id LIMIT ${sql.lit(limit)}`,
  )
}

export async function selectMessagesById(db: Db, ids: readonly string[]): Promise<readonly RetentionMessageRow[]> {
  return ids.length === 0 ? [] : await selectMessageRows(db, sql`WHERE m.id IN (${sql.join(ids)})`)
}

/** Locks those of the messages that are still in the folder and not in use. */
export async function lockMessagesInFolder(
  tx: Db,
  folder: Folder,
  ids: readonly string[],
): Promise<readonly Id<'msg'>[]> {
  const rows = await tx
    .selectFrom('messages')
    .select('id')
    .where('id', 'in', ids as readonly Id<'msg'>[])
    .where('folder', '=', folder)
    .where('rescan_at', 'is', null)
    .where('indexed', '=', 1)
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.map(row => row.id)
}

/** Deletes messages with their attachments and search text. Their thread references stay, for replies to them. */
export async function deleteMessages(tx: Db, ids: readonly Id<'msg'>[]): Promise<void> {
  if (ids.length === 0) return
  await tx.deleteFrom('search_texts').where('message_id', 'in', ids).execute()
  await tx.deleteFrom('attachments').where('message_id', 'in', ids).execute()
  await tx.deleteFrom('messages').where('id', 'in', ids).execute()
}

/** Removes the raw content from those of the messages that are not in use; gives their ids. */
export async function updateRawPurged(tx: Db, ids: readonly string[], now: Instant): Promise<readonly Id<'msg'>[]> {
  const rows = await tx
    .selectFrom('messages')
    .select('id')
    .where('id', 'in', ids as readonly Id<'msg'>[])
    .where('raw_purged_at', 'is', null)
    .where('rescan_at', 'is', null)
    .where('indexed', '=', 1)
    .orderBy('id')
    .forUpdate()
    .execute()
  const found = rows.map(row => row.id)
  if (found.length > 0)
    await tx
      .updateTable('messages')
      .set({ blob_id: '' as Id<'blb'>, raw_purged_at: now })
      .where('id', 'in', found)
      .execute()
  return found
}

/** Replaces the raw content by that without attachments, unless it has changed meanwhile. */
export async function updateMessageBlob(
  db: Db,
  id: Id<'msg'>,
  blobs: { readonly from: Id<'blb'>; readonly to: Id<'blb'> },
  now: Instant,
): Promise<void> {
  await db
    .updateTable('messages')
    .set({ blob_id: blobs.to, attachments_purged_at: now })
    .where('id', '=', id)
    .where('blob_id', '=', blobs.from)
    .execute()
}

/** The attachments of a message, in order. */
export async function selectAttachments(db: Db, id: Id<'msg'>) {
  const rows = await db
    .selectFrom('attachments')
    .select(['filename', 'content_type', 'size'])
    .where('message_id', '=', id)
    .orderBy('position')
    .execute()
  return rows.map(row => ({ filename: row.filename, contentType: row.content_type, size: Number(row.size) }))
}

/**
 * Starts the retention time now for messages in spam, trash and quarantine without one: an earlier version, which may still be
 * running, does not set it. Updates at most `limit` messages of each folder; gives the highest number of one folder.
 */
export async function updateMissingFolderSince(db: Db, now: Instant, limit: number): Promise<number> {
  let found = 0n
  for (const folder of ['spam', 'trash', 'quarantine']) {
    const { numAffectedRows = 0n } = await sql`UPDATE messages SET folder_since = ${now}
      WHERE folder = ${folder} AND folder_since IS NULL LIMIT ${sql.lit(limit)}`.execute(db)
    if (numAffectedRows > found) found = numAffectedRows
  }
  return Number(found)
}
