import { type Operator, recordAuditEntry } from '../../accounts/audit/audit.ts'
import type { Instant } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { bodyStart } from '../../mail/header.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { appendMessageEvents } from '../messages/message-event.ts'
import {
  deleteMessages,
  lockMessages,
  type QuarantinedAttachment,
  type QuarantinedRow,
  type QuarantineFilter,
  type QuarantineRange,
  selectAttachmentsOf,
  selectQuarantined,
  selectQuarantinedIds,
  updateRescanDue,
  updateToInbox,
} from './table.ts'

/** A message in quarantine with its attachments. */
export interface QuarantinedMessage extends QuarantinedRow {
  readonly attachments: readonly QuarantinedAttachment[]
}

/** The newest `limit` messages in quarantine that the filter selects, with `olderThan` those before that one. */
export async function listQuarantine(
  db: Db,
  filter: QuarantineFilter,
  range: Pick<QuarantineRange, 'olderThan' | 'limit'>,
): Promise<readonly QuarantinedMessage[]> {
  const ids = await selectQuarantinedIds(db, filter, range)
  const order = new Map(ids.map((id, i) => [id, i]))
  const rows = await withAttachments(db, await selectQuarantined(db, ids))
  return rows.toSorted((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
}

/** One message, also when it has left quarantine; undefined: there is none. */
export async function findQuarantined(db: Db, id: Id<'msg'>): Promise<QuarantinedMessage | undefined> {
  const [found] = await withAttachments(db, await selectQuarantined(db, [id]))
  return found
}

const maxHeaderBytes = 64 * 1024

/** The header as it was received, at most 64 KiB of it; null where the content was deleted. */
export async function readQuarantinedHeader(
  blobs: BlobStore,
  { organization_id, blob_id }: QuarantinedMessage,
): Promise<string | null> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of blobs.read(organization_id, blob_id, { end: maxHeaderBytes })) chunks.push(chunk)
  } catch {
    return null
  }
  const start = Buffer.concat(chunks)
  return start.subarray(0, bodyStart(start) ?? start.length).toString()
}

async function withAttachments(db: Db, rows: readonly QuarantinedRow[]): Promise<readonly QuarantinedMessage[]> {
  const attachments = await selectAttachmentsOf(
    db,
    rows.map(row => row.id),
  )
  const byMessage = Map.groupBy(attachments, attachment => attachment.message_id)
  return rows.map(row => ({ ...row, attachments: byMessage.get(row.id) ?? [] }))
}

const batchSize = 50

/** What an operator does with messages in quarantine. */
export type QuarantineAction =
  /**
   * Moves them to the inbox, where they are read and downloaded like any other; the scan result stays visible. What could not
   * be scanned is still scanned again, and put back if it is infected.
   */
  | 'release'
  /** Final. */
  | 'delete'
  /** Scans those that could not be scanned as soon as the scanner is free, also those that were given up. */
  | 'rescan'

/**
 * Does this with messages in quarantine, in small transactions, with an audit entry for each message.
 * `isDryRun` changes nothing; `from`: only those after this id.
 * @returns the messages, as they were before
 */
async function* changeQuarantine(
  db: Db,
  filter: QuarantineFilter,
  kind: QuarantineAction,
  operator: Operator,
  { isDryRun = false, from = '' }: { readonly isDryRun?: boolean; readonly from?: string } = {},
): AsyncGenerator<QuarantinedMessage> {
  for (let after = from; ; ) {
    const ids = await selectQuarantinedIds(db, filter, { after, limit: batchSize })
    yield* await inTransaction(db, async tx => {
      if (!isDryRun) await lockMessages(tx, ids)
      const rows = await selectQuarantined(tx, ids)
      const quarantined = await withAttachments(
        tx,
        rows.filter(row => row.folder === 'quarantine' && (kind !== 'rescan' || row.scan === 'error')),
      )
      if (!isDryRun) await applyToMessages(tx, quarantined, { filter, kind, operator })
      return quarantined
    })
    const last = ids.at(-1)
    if (last === undefined || ids.length < batchSize) return
    after = last
  }
}

async function releaseToInbox(tx: Db, ids: readonly Id<'msg'>[], at: Instant): Promise<void> {
  await updateToInbox(tx, ids, at)
  await appendMessageEvents(tx, 'message.released', ids, at)
}

interface QuarantineChange {
  readonly filter: QuarantineFilter
  readonly kind: QuarantineAction
  readonly operator: Operator
}

async function applyToMessages(
  tx: Db,
  rows: readonly QuarantinedMessage[],
  { filter, kind, operator }: QuarantineChange,
): Promise<void> {
  const ids = rows.map(row => row.id)
  switch (kind) {
    case 'release':
      await releaseToInbox(tx, ids, operator.clock.now())
      break
    case 'delete':
      await deleteMessages(tx, ids)
      break
    case 'rescan':
      await updateRescanDue(tx, ids, operator.clock.now())
      break
    default:
      return kind satisfies never
  }
  for (const row of rows)
    await recordAuditEntry(tx, operator, {
      action: `quarantine.${kind}`,
      subject: row.id,
      detail: {
        organization_id: row.organization_id,
        reason: row.folder_reason,
        scan: row.scan,
        scan_signature: row.scan_signature,
        sha256: row.sha256?.toString('hex') ?? null,
        attachments: row.attachments.map(attachment => attachment.sha256.toString('hex')),
        ...(filter.sha256 && { asked_for: `sha256:${filter.sha256.toString('hex')}` }),
      },
    })
}

export interface QuarantineChangeOptions {
  readonly filter: QuarantineFilter
  readonly action: QuarantineAction
  readonly operator: Operator
  readonly isDryRun: boolean
  /** Only the messages after this id: those that an earlier call left. */
  readonly from?: string
  /** Stops after so many messages. */
  readonly maxMessages?: number
  readonly onProgress?: (messages: number) => void
}

export interface QuarantineChangeResult {
  /** What was done, or would be. */
  readonly messages: readonly Pick<QuarantinedMessage, 'id' | 'organization_id' | 'rcpt_to' | 'scan'>[]
  /** Those of the ids in the filter that are not in quarantine, or cannot be scanned again. */
  readonly notFound: readonly Id<'msg'>[]
  /** Where the next call goes on; null: all were done. */
  readonly next: Id<'msg'> | null
}

/** {@link changeQuarantine} for all that the filter selects, and what there was. */
export async function changeQuarantined(
  db: Db,
  {
    filter,
    action,
    operator,
    isDryRun,
    from = '',
    maxMessages = Number.POSITIVE_INFINITY,
    onProgress,
  }: QuarantineChangeOptions,
): Promise<QuarantineChangeResult> {
  const messages: QuarantineChangeResult['messages'][number][] = []
  let next: Id<'msg'> | null = null
  for await (const message of changeQuarantine(db, filter, action, operator, { isDryRun, from })) {
    const { id, organization_id, rcpt_to, scan } = message
    messages.push({ id, organization_id, rcpt_to, scan })
    onProgress?.(messages.length)
    if (messages.length < maxMessages) continue
    next = id
    break
  }
  const found = new Set<string>(messages.map(message => message.id))
  return { messages, notFound: (filter.ids ?? []).filter(id => !found.has(id)), next }
}
