import { detectMimeType } from 'nodemailer/lib/mime-funcs'
import { type Id, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { invalidParameter } from './invalid-parameter.ts'

/** An attachment as a request gives it. */
export interface AttachmentInput {
  readonly filename: string
  /** Base64, RFC 4648 §4: padded, without line breaks. */
  readonly content: string
  readonly content_type?: string | null
  readonly content_id?: string | null
}

/** What is recorded of an attachment of an email. */
export interface AttachmentDescription {
  readonly id: Id<'att'>
  readonly filename: string
  /** With its parameters, where the request gave it. */
  readonly contentType: string
  /** Without angle brackets; null: not shown inline. */
  readonly contentId: string | null
  /** In bytes, decoded. */
  readonly size: number
}

/** An attachment of an email to be composed. */
export interface OutgoingAttachment extends AttachmentDescription {
  readonly content: Buffer
}

const maxAttachments = 20
const maxAttachmentBytes = 10 * 1024 * 1024
const maxFilenameLength = 255

const token = "[A-Za-z0-9!#$%&'*+.^_`{|}~-]+"
const mediaType = new RegExp(`^${token}/${token}(?:\\s*;\\s*${token}=(?:${token}|"[ !#-[\\]-~]*"))*$`)
const contentIdForm = /^[!-;=?-~]{1,250}$/

/** Checks and decodes the attachments. @throws invalid_request, with a param such as `attachments[0].content`. */
export function readAttachments(input: readonly AttachmentInput[] | null | undefined): readonly OutgoingAttachment[] {
  const seen = new Set<string>()
  return (input ?? []).map((attachmentInput, i) => {
    const param = `attachments[${i}]`
    const contentId = readContentId(attachmentInput.content_id, `${param}.content_id`)
    if (contentId !== null && seen.has(contentId))
      throw invalidParameter(`${param}.content_id`, 'another attachment has the same Content-ID')
    if (contentId !== null) seen.add(contentId)
    const filename = readFilename(attachmentInput.filename, `${param}.filename`)
    const content = readContent(attachmentInput.content, `${param}.content`)
    return {
      id: newId('att'),
      filename,
      contentType: readContentType(attachmentInput.content_type, filename, `${param}.content_type`),
      contentId,
      size: content.length,
      content,
    }
  })
}

/** The refusals of {@link requireAttachmentLimits}. */
export const attachmentRefusals = ['too_many_attachments', 'attachments_too_large'] as const

/** @throws too_many_attachments, attachments_too_large (10 MiB, decoded). */
export function requireAttachmentLimits(attachments: readonly AttachmentDescription[]): void {
  if (attachments.length > maxAttachments)
    throw refuse('too_many_attachments', {
      message: `attachments: ${attachments.length} files are more than the ${maxAttachments} that one email may have.`,
      param: 'attachments',
    })
  const bytes = attachments.reduce((sum, attachment) => sum + attachment.size, 0)
  if (bytes > maxAttachmentBytes)
    throw refuse('attachments_too_large', {
      message: `attachments: ${bytes} bytes are more than the ${maxAttachmentBytes} that the files of one email may have.`,
      param: 'attachments',
    })
}

function readFilename(text: string, param: string): string {
  if (text.trim() === '') throw invalidParameter(param, 'a filename is required')
  if (text.length > maxFilenameLength)
    throw invalidParameter(param, `the filename has more than ${maxFilenameLength} characters`)
  if (/\p{Cc}/u.test(text)) throw invalidParameter(param, 'the filename contains control characters')
  if (/[/\\]/.test(text)) throw invalidParameter(param, 'the filename is a path; give the name alone')
  if (!text.isWellFormed()) throw invalidParameter(param, 'the filename is not well-formed Unicode')
  return text
}

function readContentType(text: string | null | undefined, filename: string, param: string): string {
  if (text === null || text === undefined) return typeByName(filename)
  if (text.length > 255 || !mediaType.test(text))
    throw invalidParameter(param, 'this is not a media type such as application/pdf')
  if (/^multipart\//i.test(text)) throw invalidParameter(param, 'an attachment cannot be multipart')
  return text
}

function readContentId(text: string | null | undefined, param: string): string | null {
  if (text === null || text === undefined) return null
  const bare = text.startsWith('<') && text.endsWith('>') ? text.slice(1, -1) : text
  if (!contentIdForm.test(bare))
    throw invalidParameter(param, 'a Content-ID has at most 250 printable ASCII characters, without < and >')
  return bare
}

function readContent(text: string, param: string): Buffer {
  const content = Buffer.from(text, 'base64')
  if (content.toString('base64') !== text)
    throw invalidParameter(param, 'this is not base64 (RFC 4648 §4, padded, no line breaks)')
  return content
}

/** The media type of a filename's extension; application/octet-stream when it is unknown. */
function typeByName(filename: string): string {
  const type = detectMimeType(filename)
  return mediaType.test(type) ? type : 'application/octet-stream'
}
