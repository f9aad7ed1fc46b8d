import { type Selectable, sql } from 'kysely'
import type { MessageCursor } from '../../api/page.ts'
import type { Tenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema, Flag, Folder } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** The columns that a list shows. */
export const itemColumns = [
  'id',
  'brand_id',
  'folder',
  'mailbox_id',
  'rcpt_to',
  'from_address',
  'from_name',
  'to_addresses',
  'subject',
  'preview',
  'starred',
  'is_read',
  'received_at',
  'size',
  'attachment_count',
  'message_id',
  'thread_id',
  'in_reply_to_email_id',
  'spf',
  'dkim',
  'dmarc',
  'scan',
] as const

export const messageColumns = [
  ...itemColumns,
  'organization_id',
  'blob_id',
  'folder_reason',
  'spam',
  'in_reply_to',
  'mail_from',
  'remote_ip',
  'helo',
  'tls',
  'smtputf8',
  'verdicts',
  'scan_signature',
  'raw_purged_at',
  'attachments_purged_at',
] as const

/** What events give out of these messages of any organization. */
export function selectEventMessages(
  db: Db,
  ids: readonly Id<'msg'>[],
): Promise<readonly (MessageItemRow & Pick<DatabaseSchema['messages'], 'organization_id'>)[]> {
  if (ids.length === 0) return Promise.resolve([])
  return db
    .selectFrom('messages')
    .select([...itemColumns, 'organization_id'])
    .where('id', 'in', ids)
    .execute()
}

export type MessageItemRow = Pick<DatabaseSchema['messages'], (typeof itemColumns)[number]>
export type MessageDetailRow = Pick<Selectable<DatabaseSchema['messages']>, (typeof messageColumns)[number]>

export interface MessageListing {
  /** null: any folder. */
  readonly folder: Folder | null
  readonly mailboxId?: string | undefined
  readonly threadId?: string | undefined
  /** Only messages after this one. */
  readonly after?: MessageCursor | undefined
  readonly limit: number
}

const itemColumnList = sql.raw(itemColumns.join(', '))

/** The messages of a folder or a thread, newest first: a range of one index, however many there are. */
export async function selectItems(db: Db, tenant: Tenant, listing: MessageListing): Promise<MessageItemRow[]> {
  const { folder, mailboxId, threadId, after, limit } = listing
  const conditions = [
    sql`organization_id = ${tenant.organizationId}`,
    ...(tenant.brandId === null ? [] : [sql`brand_id = ${tenant.brandId}`]),
    ...(folder === null ? [] : [sql`folder = ${folder}`]),
    ...(threadId === undefined ? [] : [sql`thread_id = ${threadId}`]),
    ...(mailboxId === undefined ? [] : [sql`mailbox_id = ${mailboxId}`]),
    ...(after ? afterCursor(after) : []),
  ]
  // Forced: left to choose, MariaDB 10.11 scans all messages that are newer than the page.
  const { rows } =
    await sql<MessageItemRow>`SELECT ${itemColumnList} FROM messages FORCE INDEX (${indexFor(tenant, listing)})
    WHERE ${sql.join(conditions, sql` AND `)} ORDER BY received_at DESC, id DESC LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

/** The index in the order of the listing that has the fewest other rows. */
function indexFor(tenant: Tenant, { mailboxId, threadId }: MessageListing) {
  if (threadId !== undefined) return sql.raw('messages_thread')
  if (mailboxId !== undefined) return sql.raw('messages_mailbox')
  return sql.raw(tenant.brandId === null ? 'messages_organization' : 'messages_brand')
}

/** Spelled out: neither server would use the index for a comparison of pairs. */
function afterCursor({ receivedAt, id }: MessageCursor) {
  return [sql`received_at <= ${receivedAt}`, sql`(received_at < ${receivedAt} OR id < ${id})`]
}

/** Undefined: the organization has no message with this id. */
export async function selectMessage(
  db: Db,
  organizationId: Id<'org'>,
  id: Id<'msg'>,
): Promise<MessageDetailRow | undefined> {
  return await db
    .selectFrom('messages')
    .select(messageColumns)
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

export async function selectAttachments(db: Db, organizationId: Id<'org'>, messageId: Id<'msg'>) {
  return await db
    .selectFrom('attachments')
    .select([
      'id',
      'position',
      'filename',
      'content_type',
      'size',
      'content_id',
      'disposition',
      'sha256',
      'scan',
      'scan_signature',
    ])
    .where('message_id', '=', messageId)
    .where('organization_id', '=', organizationId)
    .orderBy('position')
    .execute()
}

/** The columns that callers may change. */
export interface MessageChange {
  readonly folder?: Folder
  readonly starred?: Flag
  readonly is_read?: Flag
}

/** The columns that a change sets: `folder_since` first, as its expression reads the folder before the change. */
function changedColumns({ folder, ...flags }: MessageChange) {
  if (folder === undefined) return flags
  const since = sql<Instant | null>`CASE WHEN folder = ${folder} THEN folder_since ELSE UTC_TIMESTAMP(6) END`
  return { folder_since: since, folder, ...flags }
}

/** Changes a message's folder or flags. False: there is no such message, in `where.folder` if that is given. */
export async function updateMessage(
  db: Db,
  organizationId: Id<'org'>,
  id: Id<'msg'>,
  change: MessageChange,
  where: { readonly folder?: Folder } = {},
): Promise<boolean> {
  let query = db
    .updateTable('messages')
    .set(changedColumns(change))
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
  if (where.folder) query = query.where('folder', '=', where.folder)
  const { numUpdatedRows } = await query.executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Those of the messages that the tenant has. */
export async function selectVisibleIds(
  db: Db,
  tenant: Tenant,
  ids: readonly Id<'msg'>[],
): Promise<readonly Id<'msg'>[]> {
  if (ids.length === 0) return []
  let query = db
    .selectFrom('messages')
    .select('id')
    .where('id', 'in', ids)
    .where('organization_id', '=', tenant.organizationId)
  if (tenant.brandId) query = query.where('brand_id', '=', tenant.brandId)
  const rows = await query.execute()
  return rows.map(row => row.id)
}

/** Changes several messages in the same way. */
export async function updateMessages(
  db: Db,
  organizationId: Id<'org'>,
  ids: readonly Id<'msg'>[],
  change: MessageChange,
): Promise<void> {
  if (ids.length === 0) return
  await db
    .updateTable('messages')
    .set(changedColumns(change))
    .where('id', 'in', ids)
    .where('organization_id', '=', organizationId)
    .execute()
}
