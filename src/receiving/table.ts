import type { Insertable } from 'kysely'
import { sql } from 'kysely'
import type { Instant } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import { insertRows } from '../base/database/insert-rows.ts'
import type { DatabaseSchema, Flag, Folder, ScanStatus } from '../base/database/schema.ts'
import { padToPowerOfTwo, placeholders, selectRows } from '../base/database/select-rows.ts'
import type { Id } from '../base/ids.ts'
import type { FolderReason } from './decide.ts'

export type NewMessage = Insertable<DatabaseSchema['messages']>
export type NewAttachment = Insertable<DatabaseSchema['attachments']>

/** The receiving claim on a domain, and one of its mailboxes with a requested local part; null: it has none. */
export interface RecipientClaimRow {
  readonly domain: string
  readonly organization_id: Id<'org'>
  readonly domain_id: Id<'dom'>
  readonly identity_verified: Flag
  readonly mailbox_id: Id<'mbx'> | null
  readonly brand_id: Id<'brd'> | null
  readonly local_part: string | null
  /** Does the organization allow or block any sender? */
  readonly has_listings: Flag
}

/** The claims on these domains: a row for each mailbox with one of these local parts, or one row without a mailbox. */
export async function selectClaims(
  db: Db,
  domains: readonly string[],
  localParts: readonly string[],
): Promise<readonly RecipientClaimRow[]> {
  const [parts, names] = [padToPowerOfTwo(localParts), padToPowerOfTwo(domains)]
  return await selectRows(
    db,
    `SELECT c.domain, c.organization_id, c.domain_id, c.identity_verified, m.id AS mailbox_id, m.brand_id, m.local_part,
       EXISTS (SELECT 1 FROM sender_listings l WHERE l.organization_id = c.organization_id) AS has_listings
     FROM receiving_claims c
     LEFT JOIN mailboxes m ON m.domain_id = c.domain_id AND m.local_part IN (${placeholders(parts)})
     WHERE c.domain IN (${placeholders(names)})`,
    [...parts, ...names],
  )
}

/** Whether a message exists. Waits until a transaction that inserts it has ended. */
export async function lockMessage(db: Db, id: Id<'msg'>): Promise<boolean> {
  return (await selectRows(db, 'SELECT id FROM messages WHERE id = ? FOR UPDATE', [id])).length > 0
}

/** What others cannot do until the transaction ends: `shared`: delete the mailbox; `exclusive`: file into it either. */
export type MailboxLock = 'shared' | 'exclusive'

/** Locks those of the mailboxes that exist until the transaction ends, in the order of their ids, and gives them. */
export async function lockMailboxes(
  db: Db,
  ids: readonly Id<'mbx'>[],
  lock: MailboxLock,
): Promise<readonly Id<'mbx'>[]> {
  if (ids.length === 0) return []
  const padded = padToPowerOfTwo(ids)
  const text = `SELECT id FROM mailboxes WHERE id IN (${placeholders(padded)}) ORDER BY id ${lockClauses[lock]}`
  const rows = await selectRows<{ readonly id: Id<'mbx'> }>(db, text, padded)
  return rows.map(row => row.id)
}

/** MariaDB has no FOR SHARE. */
const lockClauses: Readonly<Record<MailboxLock, string>> = { shared: 'LOCK IN SHARE MODE', exclusive: 'FOR UPDATE' }

/** What tells whether a message was filed before. */
export interface SamenessKey {
  readonly mailboxId: Id<'mbx'>
  readonly sameness: Buffer
}

export interface FiledMessageRow {
  readonly id: Id<'msg'>
  readonly mailbox_id: Id<'mbx'>
  readonly sameness: Buffer
}

const maxKeysPerStatement = 128

/**
 * The messages with one of these keys that were received after `since`. Pairs, and no join with the mailboxes: for that,
 * MariaDB reads all messages of a mailbox once there are two keys.
 */
export async function selectFiledMessages(
  db: Db,
  keys: readonly SamenessKey[],
  since: Instant,
): Promise<readonly FiledMessageRow[]> {
  const rows: FiledMessageRow[] = []
  for (let at = 0; at < keys.length; at += maxKeysPerStatement) {
    const padded = padToPowerOfTwo(keys.slice(at, at + maxKeysPerStatement))
    const pairs = padded.map(() => '(mailbox_id = ? AND sameness = ?)').join(' OR ')
    const text = `SELECT id, mailbox_id, sameness FROM messages WHERE (${pairs}) AND received_at > ?`
    const values = padded.flatMap(key => [key.mailboxId, key.sameness])
    rows.push(...(await selectRows<FiledMessageRow>(db, text, [...values, since])))
  }
  return rows
}

const maxRowsPerStatement = 500

export async function insertMessages(db: Db, rows: readonly NewMessage[]): Promise<void> {
  for (let at = 0; at < rows.length; at += maxRowsPerStatement)
    await insertRows(db, 'messages', rows.slice(at, at + maxRowsPerStatement))
}

export async function insertAttachments(db: Db, rows: readonly NewAttachment[]): Promise<void> {
  for (let at = 0; at < rows.length; at += maxRowsPerStatement)
    await insertRows(db, 'attachments', rows.slice(at, at + maxRowsPerStatement))
}

/** A message that could not be scanned when it came. */
export interface UnscannedRow {
  readonly id: Id<'msg'>
  readonly organization_id: Id<'org'>
  readonly mailbox_id: Id<'mbx'> | null
  readonly blob_id: Id<'blb'>
  readonly mail_from: string
  readonly received_at: Instant
  readonly release_folder: Folder | null
  /** When the next scan is due; while a process scans it, the end of that process's lease. */
  readonly rescan_at: Instant | null
}

/** Messages of all organizations whose next scan is due, the longest overdue first. */
export async function selectDueRescans(db: Db, now: Instant, limit: number): Promise<readonly UnscannedRow[]> {
  return await db
    .selectFrom('messages')
    .select([
      'id',
      'organization_id',
      'mailbox_id',
      'blob_id',
      'mail_from',
      'received_at',
      'rescan_at',
      'release_folder',
    ])
    .where('rescan_at', '<=', now)
    .orderBy('rescan_at')
    .limit(sql.lit(limit))
    .execute()
}

/** The folder of a message, locked until the transaction ends; undefined: there is no such message. */
export async function lockFolder(tx: Db, id: Id<'msg'>): Promise<Folder | undefined> {
  const row = await tx.selectFrom('messages').select('folder').where('id', '=', id).forUpdate().executeTakeFirst()
  return row?.folder
}

/** Moves the next scan to `at`; null: there is none. False: another process has claimed it. */
export async function updateRescanAt(db: Db, row: UnscannedRow, at: Instant | null): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('messages')
    .set({ rescan_at: at })
    .where('id', '=', row.id)
    .where('organization_id', '=', row.organization_id)
    .where('rescan_at', '=', row.rescan_at)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Records that a later scan found nothing: the message moves to its release folder, unless it has been moved meanwhile.
 * False: another process has claimed it.
 * @param accepted the reason, where that folder is the inbox
 */
export async function updateReleased(db: Db, row: UnscannedRow, accepted: FolderReason): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    UPDATE messages
    SET folder_since = CASE WHEN folder = 'quarantine' THEN UTC_TIMESTAMP(6) ELSE folder_since END,
        folder = CASE WHEN folder = 'quarantine' THEN COALESCE(release_folder, folder) ELSE folder END,
        folder_reason = CASE WHEN release_folder = 'inbox' THEN ${accepted}
                             WHEN release_reason IS NOT NULL THEN release_reason WHEN dmarc = 'fail' THEN 'dmarc_fail'
                             WHEN spf = 'fail' THEN 'spf_fail' ELSE 'from_unchecked' END,
        scan = 'clean', scan_signature = NULL, rescan_at = NULL, release_folder = NULL, release_reason = NULL
    WHERE id = ${row.id} AND organization_id = ${row.organization_id} AND rescan_at = ${row.rescan_at}`.execute(db)
  return numAffectedRows > 0n
}

/** Records that a later scan found something: the message stays in quarantine, or goes back there. False: another process has claimed it. */
export async function updateInfected(db: Db, row: UnscannedRow, signature: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('messages')
    .set({
      // Before the folder is set, which the expression reads.
      folder_since: sql`CASE WHEN folder = 'quarantine' THEN folder_since ELSE UTC_TIMESTAMP(6) END`,
      folder: 'quarantine',
      folder_reason: 'infected',
      scan: 'infected',
      scan_signature: signature,
      rescan_at: null,
      release_folder: null,
      release_reason: null,
    })
    .where('id', '=', row.id)
    .where('organization_id', '=', row.organization_id)
    .where('rescan_at', '=', row.rescan_at)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export interface AttachmentScan {
  readonly scan: ScanStatus
  readonly scan_signature: string | null
}

/** Records the scan of a message's attachment at `position` (0-based), or of all its attachments. */
export async function updateAttachmentScan(
  db: Db,
  row: UnscannedRow,
  scan: AttachmentScan,
  position?: number,
): Promise<void> {
  let query = db
    .updateTable('attachments')
    .set({ scan: scan.scan, scan_signature: scan.scan_signature })
    .where('message_id', '=', row.id)
    .where('organization_id', '=', row.organization_id)
  if (position !== undefined) query = query.where('position', '=', position)
  await query.execute()
}
