import { type FileDownload, purgedRefusal, purgedRefusals } from '../../api/file-response.ts'
import type { Tenant } from '../../api/tenant.ts'
import type { Db } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import { refuse } from '../../base/refusal.ts'
import type { PartHeader } from '../../mail/message.ts'
import { attachmentBytes, partBytes } from '../../mail/part-bytes.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { readStoredMessage } from '../../ports/blobs/read-message.ts'
import { emailRefusals, requireEmail } from './emails.ts'

/** The refusals of {@link downloadSentAttachment}. */
export const downloadSentRefusals = [...emailRefusals, ...purgedRefusals] as const

/** The bytes of an attachment as the request to send, or the message that was submitted, gave them. @throws Refusal `not_found`, `brand_restricted` */
export async function downloadSentAttachment(
  { db, blobs }: { readonly db: Db; readonly blobs: Pick<BlobStore, 'read'> },
  tenant: Tenant,
  id: string,
  attachmentId: string,
): Promise<FileDownload> {
  const email = await requireEmail(db, tenant, id)
  const attachments = fromJson(email.attachments)
  const attachment = attachments.find(attachment => attachment.id === attachmentId)
  if (!attachment)
    throw refuse('not_found', { message: `The email ${id} has no attachment ${attachmentId.slice(0, 80)}.` })
  const purgedAt = email.content_purged_at ?? email.attachments_purged_at
  if (purgedAt !== null) throw purgedRefusal(`The attachment ${attachmentId}`, purgedAt)
  const message = readStoredMessage(blobs, email.organization_id, email.blob_id)
  return {
    filename: attachment.filename,
    size: attachment.size,
    bytes:
      email.source === 'smtp'
        ? attachmentBytes(message, attachments.indexOf(attachment))
        : partBytes(message, isPartOf(attachments, attachment)),
    contentType: 'application/octet-stream',
  }
}

/**
 * A function that recognizes the part of an attachment among those of a message that compose() made, in their order: the
 * text; the HTML, if there is one, and after it what it shows inline; then the other attachments. Only attachments have a
 * Content-Disposition.
 */
function isPartOf<Attachment extends { readonly content_id: string | null }>(
  attachments: readonly Attachment[],
  wanted: Attachment,
): (header: PartHeader) => boolean {
  const inline = attachments.filter(attachment => attachment.content_id !== null)
  const others = attachments.filter(attachment => attachment.content_id === null)
  let order = attachments
  let position = 0
  return ({ contentType, disposition }) => {
    if (disposition !== undefined) return order[position++] === wanted
    if (contentType === 'text/html') order = [...inline, ...others]
    return false
  }
}
