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

/** A message in quarantine and what is attached to it. */
export interface QuarantinedMessage extends QuarantinedRow {
  readonly attachments: readonly QuarantinedAttachment[]
}

/** The newest `limit` of them. */
export async function listQuarantine(
  db: Db,
  filter: QuarantineFilter,
  limit: number,
): Promise<readonly QuarantinedMessage[]> {
  const ids = await selectQuarantinedIds(db, filter, { limit })
  const place = new Map(ids.map((id, i) => [id, i]))
  const rows = await withAttachments(db, await selectQuarantined(db, ids))
  return rows.toSorted((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0))
}

/** One message, in quarantine or not any more; undefined: there is none. */
export async function findQuarantined(db: Db, id: Id<'msg'>): Promise<QuarantinedMessage | undefined> {
  const [found] = await withAttachments(db, await selectQuarantined(db, [id]))
  return found
}

async function withAttachments(db: Db, rows: readonly QuarantinedRow[]): Promise<readonly QuarantinedMessage[]> {
  const attached = await selectAttachmentsOf(
    db,
    rows.map(row => row.id),
  )
  const of = Map.groupBy(attached, quarantinedAttachment => quarantinedAttachment.message_id)
  return rows.map(row => ({ ...row, attachments: of.get(row.id) ?? [] }))
}

const batchSize = 50

/**
 * Takes messages out of quarantine, a few at a time, each with a record in the audit log of its own. `release`: to the
 * inbox, where it is read and downloaded like any other; what the scanner said stays to be seen. Of what could not be
 * scanned the scans go on, and put back what they find infected. `delete`: for good.
 * @param isDry only says which
 */
export async function* emptyQuarantine(
  db: Db,
  filter: QuarantineFilter,
  kind: 'release' | 'delete',
  operator: Operator,
  isDry = false,
): AsyncGenerator<QuarantinedMessage> {
  for (let after = ''; ; ) {
    const ids = await selectQuarantinedIds(db, filter, { after, limit: batchSize })
    yield* await inTransaction(db, async tx => {
      if (!isDry) await lockMessages(tx, ids)
      const rows = await selectQuarantined(tx, ids)
      const there = await withAttachments(
        tx,
        rows.filter(row => row.folder === 'quarantine'),
      )
      if (!isDry) await removeFromQuarantine(tx, there, { filter, kind, operator })
      return there
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
