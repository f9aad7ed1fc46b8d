import type { AttachmentStream } from 'mailparser'
import { truncate, withoutControls } from '../text.ts'
import { inlineFile } from './part-header.ts'

/** An attachment without its bytes. */
export interface AttachmentSummary {
  /** As the sender named it, without control characters, at most 255 characters; generated where it has no name. */
  readonly filename: string
  readonly contentType: string
  /** In bytes, decoded. */
  readonly size: number
  /** Without angle brackets. */
  readonly contentId: string | null
  readonly disposition: 'attachment' | 'inline'
  readonly sha256: Buffer
}

/** The summary of the attachment at `position` (0-based), once all of its content was read. */
export function attachmentSummary(attachment: AttachmentStream, position: number): AttachmentSummary {
  const contentType = truncate(withoutControls(attachment.contentType || 'application/octet-stream'), 255)
  const contentId = truncate(withoutControls(attachment.cid ?? ''), 255)
  return {
    filename: truncate(withoutControls(attachment.filename ?? ''), 255) || generatedName(contentType, position),
    contentType,
    size: attachment.size,
    contentId: contentId || null,
    disposition: isInline(attachment) ? 'inline' : 'attachment',
    sha256: Buffer.from(attachment.checksum, 'hex'),
  }
}

function isInline({ contentDisposition, related }: AttachmentStream): boolean {
  return related || contentDisposition === 'inline' || contentDisposition === inlineFile
}

function generatedName(contentType: string, position: number): string {
  if (contentType === 'message/rfc822') return `message-${position + 1}.eml`
  return `attachment-${position + 1}`
}
