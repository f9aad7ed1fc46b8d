import { Readable } from 'node:stream'
import type { Caller } from '../../api/caller.ts'
import { type FileDownload, purgedRefusal, purgedRefusals } from '../../api/file-response.ts'
import type { Db } from '../../base/database/database.ts'
import type { ScanStatus } from '../../base/database/schema.ts'
import { refuse } from '../../base/refusal.ts'
import { type DeliveryTrace, traceHeaders, withTraceHeaders } from '../../mail/authentication-results.ts'
import { attachmentBytes } from '../../mail/part-bytes.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { readStoredMessage } from '../../ports/blobs/read-message.ts'
import { releasedReason } from '../quarantine/table.ts'
import { messageRefusals, requireMessage, verdictsOf } from './messages.ts'
import { type MessageDetailRow, selectAttachments } from './table.ts'

interface DownloadDeps {
  readonly db: Db
  readonly blobs: BlobStore
  /** Our name in Received and Authentication-Results. */
  readonly hostname: string
}

/** What {@link requireClean} refuses with. */
export const scanRefusals = ['attachment_infected', 'attachment_unscanned'] as const

/** What both downloads refuse with. */
export const downloadRefusals = [...messageRefusals, ...purgedRefusals, ...scanRefusals] as const

/**
 * An attachment as it was sent. Its own scan decides, where it was scanned by itself; else that of the message.
 * @throws Refusal not_found, brand_restricted, attachment_infected, attachment_unscanned
 */
export async function downloadAttachment(
  deps: DownloadDeps,
  caller: Caller,
  id: string,
  attachmentId: string,
): Promise<FileDownload> {
  const message = await requireMessage(deps.db, caller, id)
  const attachments = await selectAttachments(deps.db, caller.organizationId, message.id)
  const attachment = attachments.find(attachment => attachment.id === attachmentId)
  if (!attachment)
    throw refuse('not_found', {
      message: `The message ${id} has no attachment ${attachmentId}.`,
    })
  requireClean(attachmentScan(message, attachment.scan))
  const purgedAt = message.raw_purged_at ?? message.attachments_purged_at
  if (purgedAt !== null) throw purgedRefusal(`The attachment ${attachmentId}`, purgedAt)
  const stored = readStoredMessage(deps.blobs, caller.organizationId, message.blob_id)
  return {
    filename: attachment.filename,
    size: Number(attachment.size),
    bytes: attachmentBytes(stored, attachment.position),
    contentType: 'application/octet-stream',
  }
}

/**
 * The message as it was delivered to its recipient: our Return-Path, Received and Authentication-Results, then the message
 * byte for byte as it came, but for Authentication-Results that falsely claim to be ours (RFC 8601 §5).
 * @throws Refusal not_found, brand_restricted, attachment_infected, attachment_unscanned
 */
export async function downloadMessage(deps: DownloadDeps, caller: Caller, id: string): Promise<FileDownload> {
  const message = await requireMessage(deps.db, caller, id)
  requireClean(effectiveScan(message))
  if (message.raw_purged_at !== null) throw purgedRefusal(`The message ${id} as it came`, message.raw_purged_at)
  const delivered = deliveredBytes(deps, message)
  return {
    filename: `${message.id}.eml`,
    size: null,
    bytes: Readable.toWeb(Readable.from(delivered, { objectMode: false })) as ReadableStream<Uint8Array>,
    contentType: 'message/rfc822',
  }
}

/** The bytes of {@link downloadMessage}. */
export function deliveredBytes(
  { blobs, hostname }: Pick<DownloadDeps, 'blobs' | 'hostname'>,
  message: MessageDetailRow,
): AsyncIterable<Buffer> {
  const stored = blobs.read(message.organization_id, message.blob_id)
  return withTraceHeaders(stored, traceHeaders(deliveryOf(message, hostname)), hostname)
}

type ScannedRow = Pick<MessageDetailRow, 'scan' | 'folder' | 'folder_reason'>

/** Did an operator release it from quarantine, and it has not been put back? */
function isReleased({ folder, folder_reason }: ScannedRow): boolean {
  return folder_reason === releasedReason && folder !== 'quarantine'
}

/** The scan that decides about downloads: an operator's release overrides what the scanner found. */
export function effectiveScan(message: ScannedRow): ScanStatus {
  return isReleased(message) ? 'skipped' : message.scan
}

/** The scan that decides about an attachment: its own, where it was scanned by itself. */
export function attachmentScan(message: ScannedRow, scan: ScanStatus): ScanStatus {
  if (isReleased(message)) return 'skipped'
  return message.scan === 'infected' && scan === 'error' ? 'infected' : scan
}

/** Was nothing found, or is there no scanner? */
export function isHarmless(scan: ScanStatus): boolean {
  return scan === 'clean' || scan === 'skipped'
}

/** @throws Refusal attachment_infected, attachment_unscanned: for what is not known to be harmless */
export function requireClean(scan: ScanStatus): void {
  switch (scan) {
    case 'clean':
    case 'skipped':
      return
    case 'infected':
      throw refuse('attachment_infected', {
        message: 'The virus scanner found something in this, so it cannot be downloaded.',
      })
    case 'error':
      throw refuse('attachment_unscanned', {
        message: 'This has not been scanned for viruses yet. Try again once the scanner is available.',
        retryAfterSeconds: 60,
      })
    default:
      scan satisfies never
  }
}

function deliveryOf(message: MessageDetailRow, hostname: string): DeliveryTrace {
  return {
    hostname,
    id: message.id,
    receivedAt: message.received_at,
    mailFrom: message.mail_from,
    rcptTo: message.rcpt_to,
    remoteIp: message.remote_ip,
    helo: message.helo,
    tls: message.tls,
    smtputf8: message.smtputf8 === 1,
    results: verdictsOf(message),
  }
}
