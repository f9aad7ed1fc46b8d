import { Readable } from 'node:stream'
import type { Db } from '../base/database.ts'
import { refuse } from '../base/refusal.ts'
import type { ScanStatus } from '../base/schema.ts'
import type { Blobs } from '../ports/blobs/port.ts'
import type { Caller } from '../web/caller.ts'
import type { Download } from '../web/file-answer.ts'
import { storedAttachment, storedMessage } from './content.ts'
import { ownMessage } from './messages.ts'
import { selectAttachments } from './table.ts'

interface Stores {
  readonly db: Db
  readonly blobs: Blobs
}

/** An attachment as it was sent. @throws Refusal not_found, brand_restricted, attachment_infected, attachment_unscanned */
export async function downloadAttachment(
  use: Stores,
  caller: Caller,
  id: string,
  attachmentId: string,
): Promise<Download> {
  const message = await ownMessage(use.db, caller, id)
  const attachments = await selectAttachments(use.db, caller.organizationId, message.id)
  const attachment = attachments.find(each => each.id === attachmentId)
  if (!attachment)
    throw refuse('not_found', {
      message: `The message ${id} has no attachment ${attachmentId}.`,
      param: 'attachmentId',
    })
  refuseUnlessClean(message.scan)
  refuseUnlessClean(attachment.scan)
  const stored = storedMessage(use.blobs, caller.organizationId, message.blob_id)
  return {
    filename: attachment.filename,
    size: Number(attachment.size),
    bytes: storedAttachment(stored, attachment.position),
    contentType: 'application/octet-stream',
  }
}

/** @throws Refusal unless what is to be handed out was scanned and nothing was found (or nobody was to scan it). */
export function refuseUnlessClean(scan: ScanStatus): void {
  if (scan === 'infected')
    throw refuse('attachment_infected', {
      message: 'The virus scanner found something in this message; it is not handed out.',
    })
  if (scan === 'error')
    throw refuse('attachment_unscanned', {
      message: 'The message could not be scanned yet; it will be as soon as the scanner is back.',
      retryAfterSeconds: 60,
    })
}

/** The message as it came. @throws Refusal not_found, brand_restricted, attachment_infected, attachment_unscanned */
export async function downloadMessage(use: Stores, caller: Caller, id: string): Promise<Download> {
  const message = await ownMessage(use.db, caller, id)
  refuseUnlessClean(message.scan)
  const stored = storedMessage(use.blobs, caller.organizationId, message.blob_id)
  return {
    filename: `${message.id}.eml`,
    size: null,
    bytes: Readable.toWeb(stored) as ReadableStream<Uint8Array>,
    contentType: 'message/rfc822',
  }
}
