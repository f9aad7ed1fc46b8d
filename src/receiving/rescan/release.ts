import { inTransaction } from '../../base/database/database.ts'
import { maxReportBytes } from '../../mail/reports/report-mime.ts'
import { acceptedAs, scanColumns } from '../message-row.ts'
import { parseForReport } from '../parse.ts'
import type { ReportMail } from '../reports/reported-emails.ts'
import { releaseMessage, setAttachmentScan, type UnscannedRow } from '../table.ts'
import type { Rescanning } from './rescan.ts'

/**
 * Lets a message go that a later scan found clean: to the folder where it would have gone, with what it reports of emails of
 * ours taken where that counts. The report first: should the process die between the two, it is scanned and taken again,
 * and counts once.
 */
export async function release(row: UnscannedRow, use: Pick<Rescanning, 'db' | 'blobs' | 'takeReport'>): Promise<void> {
  const first = await firstBytes(row, use)
  const { report, isAutomaticReply } = parseForReport(first)
  if (row.release_folder === 'inbox' && report) await use.takeReport(asItCame(row), report, isAutomaticReply)
  await inTransaction(use.db, async tx => {
    if (await releaseMessage(tx, row, acceptedAs({ report, isAutomaticReply })))
      await setAttachmentScan(tx, row, scanColumns({ kind: 'clean' }))
  })
}

async function firstBytes(row: UnscannedRow, { blobs }: Pick<Rescanning, 'blobs'>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of blobs.read(row.organization_id, row.blob_id, { end: maxReportBytes })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The mail that it was, as far as its report is concerned. */
function asItCame(row: UnscannedRow): ReportMail {
  const { id, organization_id: organizationId, mailbox_id: mailboxId, mail_from: mailFrom } = row
  return {
    id,
    mailFrom,
    recipients: [{ organizationId, mailboxId }],
    receivedAt: row.received_at,
    signal: new AbortController().signal,
  }
}
