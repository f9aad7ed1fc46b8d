import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema, ScanStatus } from '../../base/database/schema.ts'
import { padToPowerOfTwo } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'

/** The `folder_reason` of messages that an operator released. */
export const releasedReason = 'released'

/** Selects messages in quarantine by all criteria that are given. */
export interface QuarantineFilter {
  readonly organizationId?: Id<'org'>
  readonly ids?: readonly Id<'msg'>[]
  readonly reason?: 'infected' | 'unscanned'
  /** Of the raw message, or of one of its attachments. */
  readonly sha256?: Buffer
}

/** A part of the quarantine. */
export interface QuarantineRange {
  /** Only those after this id, in the order of ids; absent: the newest first. */
  readonly after?: string
  /** Of the newest first: only those older than this one. */
  readonly olderThan?: { readonly receivedAt: Instant; readonly id: Id<'msg'> }
  readonly limit: number
}

/** The ids of at most `limit` messages. Only the quarantine of each organization is read. */
export async function selectQuarantinedIds(
  db: Db,
  { organizationId, ids, reason, sha256 }: QuarantineFilter,
  { after, olderThan, limit }: QuarantineRange,
): Promise<readonly Id<'msg'>[]> {
  const conditions = [
    sql`m.folder = 'quarantine'`,
    ...(organizationId === undefined ? [] : [sql`o.id = ${organizationId}`]),
    ...(ids === undefined ? [] : [sql`m.id IN (${sql.join(padToPowerOfTwo(ids))})`]),
    ...(reason === undefined ? [] : [reason === 'infected' ? sql`m.scan = 'infected'` : sql`m.scan = 'error'`]),
    ...(sha256 === undefined
      ? []
      : [
          sql`(b.sha256 = ${sha256} OR EXISTS
            (SELECT 1 FROM attachments a WHERE a.message_id = m.id AND a.sha256 = ${sha256}))`,
        ]),
    ...(after === undefined ? [] : [sql`m.id > ${after}`]),
    ...(olderThan === undefined
      ? []
      : [
          sql`(m.received_at < ${olderThan.receivedAt} OR m.received_at = ${olderThan.receivedAt} AND m.id < ${olderThan.id})`,
        ]),
  ]
  const { rows } = await sql<{ id: Id<'msg'> }>`SELECT STRAIGHT_JOIN m.id
    FROM organizations o
    INNER JOIN messages m ${ids === undefined ? sql`FORCE INDEX (messages_organization)` : sql``} ON m.organization_id = o.id
    LEFT JOIN blobs b ON b.id = m.blob_id
    WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY ${after === undefined ? sql`m.received_at DESC, m.id DESC` : sql`m.id`} LIMIT ${sql.lit(limit)}`.execute(
    db,
  )
  return rows.map(row => row.id)
}

/** What an operator sees of a message in quarantine. */
export interface QuarantinedRow {
  readonly id: Id<'msg'>
  readonly organization_id: Id<'org'>
  readonly brand_id: Id<'brd'>
  readonly folder: DatabaseSchema['messages']['folder']
  readonly folder_reason: string
  readonly received_at: Instant
  readonly size: number
  readonly mail_from: string
  readonly rcpt_to: string
  readonly remote_ip: string
  readonly helo: string
  readonly from_address: string
  readonly subject: string
  readonly spf: string
  readonly dkim: string
  readonly dmarc: string
  readonly scan: ScanStatus
  readonly scan_signature: string | null
  readonly rescan_at: Instant | null
  readonly blob_id: Id<'blb'>
  /** Of the raw message; null: retention deleted it. */
  readonly sha256: Buffer | null
}

/** Locks these messages until the transaction ends. */
export async function lockMessages(db: Db, ids: readonly Id<'msg'>[]): Promise<void> {
  if (ids.length > 0)
    await db
      .selectFrom('messages')
      .select('id')
      .where('id', 'in', padToPowerOfTwo(ids))
      .orderBy('id')
      .forUpdate()
      .execute()
}

/** These messages, in any folder, in the order of their ids. */
export async function selectQuarantined(db: Db, ids: readonly Id<'msg'>[]): Promise<readonly QuarantinedRow[]> {
  if (ids.length === 0) return []
  return await db
    .selectFrom('messages')
    .leftJoin('blobs', 'blobs.id', 'messages.blob_id')
    .select([
      'messages.id',
      'messages.organization_id',
      'messages.brand_id',
      'messages.folder',
      'messages.folder_reason',
      'messages.received_at',
      'messages.size',
      'messages.mail_from',
      'messages.rcpt_to',
      'messages.remote_ip',
      'messages.helo',
      'messages.from_address',
      'messages.subject',
      'messages.spf',
      'messages.dkim',
      'messages.dmarc',
      'messages.scan',
      'messages.scan_signature',
      'messages.rescan_at',
      'messages.blob_id',
      'blobs.sha256',
    ])
    .where('messages.id', 'in', padToPowerOfTwo(ids))
    .orderBy('messages.id')
    .execute()
}

export interface QuarantinedAttachment {
  readonly message_id: Id<'msg'>
  readonly filename: string
  readonly content_type: string
  readonly size: number
  readonly sha256: Buffer
  readonly scan: ScanStatus
  readonly scan_signature: string | null
}

/** The attachments of these messages, in their order. */
export async function selectAttachmentsOf(
  db: Db,
  ids: readonly Id<'msg'>[],
): Promise<readonly QuarantinedAttachment[]> {
  if (ids.length === 0) return []
  return await db
    .selectFrom('attachments')
    .select(['message_id', 'filename', 'content_type', 'size', 'sha256', 'scan', 'scan_signature'])
    .where('message_id', 'in', padToPowerOfTwo(ids))
    .orderBy('message_id')
    .orderBy('position')
    .execute()
}

/** Moves these messages to the inbox. Their scan results stay, and scans that are due still take place. */
export async function updateToInbox(db: Db, ids: readonly Id<'msg'>[], at: Instant): Promise<void> {
  if (ids.length > 0)
    await db
      .updateTable('messages')
      .set({ folder: 'inbox', folder_reason: releasedReason, folder_since: at })
      .where('id', 'in', padToPowerOfTwo(ids))
      .execute()
}

/** Makes a scan of these messages due at `at`, unless they were scanned and are infected. */
export async function updateRescanDue(db: Db, ids: readonly Id<'msg'>[], at: Instant): Promise<void> {
  if (ids.length > 0)
    await db
      .updateTable('messages')
      .set({ rescan_at: at })
      .where('id', 'in', padToPowerOfTwo(ids))
      .where('scan', '=', 'error')
      .execute()
}

/** Deletes these messages, with attachments and search texts. Retention deletes their bytes once nothing refers to them. */
export async function deleteMessages(db: Db, ids: readonly Id<'msg'>[]): Promise<void> {
  if (ids.length === 0) return
  const padded = padToPowerOfTwo(ids)
  await db.deleteFrom('search_texts').where('message_id', 'in', padded).execute()
  await db.deleteFrom('attachments').where('message_id', 'in', padded).execute()
  await db.deleteFrom('messages').where('id', 'in', padded).execute()
}
