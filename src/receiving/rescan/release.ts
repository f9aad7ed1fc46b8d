import type { Clock } from '../../base/clock.ts'
import { inTransaction } from '../../base/database/database.ts'
import { appendMessageEvents } from '../../inbox/messages/message-event.ts'
import { maxReportBytes } from '../../mail/reports/report-mime.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { acceptedReason, scanColumns } from '../message-row.ts'
import { parseForReport } from '../parse.ts'
import { type ReportDeps, recordReport } from '../reports/record-report.ts'
import type { ReportMessage } from '../reports/reported-emails.ts'
import { lockFolder, type UnscannedRow, updateAttachmentScan, updateReleased } from '../table.ts'

export interface ReleaseDeps extends ReportDeps {
  readonly blobs: BlobStore
  readonly clock: Clock
}

/**
 * Releases a message that a later scan found clean: to the folder where it would have gone, after recording what it reports
 * about emails we sent, where that counts. If the process dies between the two, the message is scanned and recorded again,
 * and counts once.
 */
export async function releaseFromQuarantine(row: UnscannedRow, deps: ReleaseDeps): Promise<void> {
  const first = await firstBytes(row, deps)
  const summary = parseForReport(first, { hasNullReversePath: row.mail_from === '' })
  if (row.release_folder === 'inbox' && summary.report) await recordReport(toReportMessage(row), summary, deps)
  await inTransaction(deps.db, async tx => {
    const before = await lockFolder(tx, row.id)
    if (!(await updateReleased(tx, row, acceptedReason(summary)))) return
    await updateAttachmentScan(tx, row, scanColumns({ kind: 'clean' }))
    if (before === 'quarantine') await appendMessageEvents(tx, 'message.released', [row.id], deps.clock.now())
  })
}

async function firstBytes(row: UnscannedRow, { blobs }: Pick<ReleaseDeps, 'blobs'>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of blobs.read(row.organization_id, row.blob_id, { end: maxReportBytes })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** What counts of the message for its report. */
function toReportMessage(row: UnscannedRow): ReportMessage {
  const { id, organization_id: organizationId, mailbox_id: mailboxId, mail_from: mailFrom } = row
  return {
    id,
    mailFrom,
    recipients: [{ address: '', organizationId, mailboxId }],
    receivedAt: row.received_at,
    signal: new AbortController().signal,
  }
}
