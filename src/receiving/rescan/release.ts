import { type Db, inTransaction } from '../../base/database/database.ts'
import { maxReportBytes } from '../../mail/reports/report-mime.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { acceptedReason, scanColumns } from '../message-row.ts'
import { parseForReport } from '../parse.ts'
import type { TakeReport } from '../reports/record-report.ts'
import type { ReportMessage } from '../reports/reported-emails.ts'
import { type UnscannedRow, updateAttachmentScan, updateReleased } from '../table.ts'

export interface ReleaseDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly takeReport: TakeReport
}

/**
 * Lets a message go that a later scan found clean: to the folder where it would have gone, with what it reports of emails of
 * ours taken where that counts. The report first: should the process die between the two, it is scanned and taken again,
 * and counts once.
 */
export async function releaseFromQuarantine(row: UnscannedRow, deps: ReleaseDeps): Promise<void> {
  const first = await firstBytes(row, deps)
  const { report, isAutomaticReply } = parseForReport(first)
  if (row.release_folder === 'inbox' && report) await deps.takeReport(toReportMessage(row), report, isAutomaticReply)
  await inTransaction(deps.db, async tx => {
    if (await updateReleased(tx, row, acceptedReason({ report, isAutomaticReply })))
      await updateAttachmentScan(tx, row, scanColumns({ kind: 'clean' }))
  })
}

async function firstBytes(row: UnscannedRow, { blobs }: Pick<ReleaseDeps, 'blobs'>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of blobs.read(row.organization_id, row.blob_id, { end: maxReportBytes })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The mail that it was, as far as its report is concerned. */
function toReportMessage(row: UnscannedRow): ReportMessage {
  const { id, organization_id: organizationId, mailbox_id: mailboxId, mail_from: mailFrom } = row
  return {
    id,
    mailFrom,
    recipients: [{ organizationId, mailboxId }],
    receivedAt: row.received_at,
    signal: new AbortController().signal,
  }
}
