import { type Operator, recordAuditEntry } from '../../accounts/audit/audit.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import {
  deleteMessages,
  lockMessages,
  type QuarantinedAttachment,
  type QuarantinedRow,
  type QuarantineFilter,
  selectAttachmentsOf,
  selectQuarantined,
  selectQuarantinedIds,
  updateToInbox,
} from './table.ts'

/** A message in quarantine with its attachments. */
export interface QuarantinedMessage extends QuarantinedRow {
  readonly attachments: readonly QuarantinedAttachment[]
}

/** The newest `limit` messages in quarantine that the filter selects. */
export async function listQuarantine(
  db: Db,
  filter: QuarantineFilter,
  limit: number,
): Promise<readonly QuarantinedMessage[]> {
  const ids = await selectQuarantinedIds(db, filter, { limit })
  const order = new Map(ids.map((id, i) => [id, i]))
  const rows = await withAttachments(db, await selectQuarantined(db, ids))
  return rows.toSorted((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
}

/** One message, also when it has left quarantine; undefined: there is none. */
export async function findQuarantined(db: Db, id: Id<'msg'>): Promise<QuarantinedMessage | undefined> {
  const [found] = await withAttachments(db, await selectQuarantined(db, [id]))
  return found
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

/**
 * Releases or deletes messages in quarantine, in small transactions, with an audit entry for each message. `release` moves
 * them to the inbox, where they are read and downloaded like any other; the scan result stays visible. What could not be
 * scanned is still scanned again, and put back if it is infected. `delete` is final.
 * @param isDryRun changes nothing
 * @returns the messages, as they were before
 */
export async function* emptyQuarantine(
  db: Db,
  filter: QuarantineFilter,
  kind: 'release' | 'delete',
  operator: Operator,
  isDryRun = false,
): AsyncGenerator<QuarantinedMessage> {
  for (let after = ''; ; ) {
    const ids = await selectQuarantinedIds(db, filter, { after, limit: batchSize })
    yield* await inTransaction(db, async tx => {
      if (!isDryRun) await lockMessages(tx, ids)
      const rows = await selectQuarantined(tx, ids)
      const quarantined = await withAttachments(
        tx,
        rows.filter(row => row.folder === 'quarantine'),
      )
      if (!isDryRun) await removeFromQuarantine(tx, quarantined, { filter, kind, operator })
      return quarantined
    })
    const last = ids.at(-1)
    if (last === undefined || ids.length < batchSize) return
    after = last
  }
}

interface QuarantineRemoval {
  readonly filter: QuarantineFilter
  readonly kind: 'release' | 'delete'
  readonly operator: Operator
}

async function removeFromQuarantine(
  tx: Db,
  rows: readonly QuarantinedMessage[],
  { filter, kind, operator }: QuarantineRemoval,
): Promise<void> {
  const ids = rows.map(row => row.id)
  if (kind === 'release') await updateToInbox(tx, ids, operator.clock.now())
  else await deleteMessages(tx, ids)
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
