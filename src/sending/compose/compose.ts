import MailComposer from 'nodemailer/lib/mail-composer'
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import type { Id } from '../../base/ids.ts'
import type { OutgoingAttachment } from '../accept/attachments.ts'
import type { HeaderField } from '../accept/headers.ts'
import type { OutgoingEmail } from '../accept/parse-request.ts'
import { speedUpComposing } from './mime-node.ts'
import { serialize } from './serialize.ts'
import { textAlternative } from './text-alternative.ts'

speedUpComposing()

/** What identifies the message. */
export interface MessageIds {
  readonly emailId: Id<'eml'>
  /** Without angle brackets. */
  readonly messageId: string
}

/**
 * Composes the message (RFC 5322): CRLF line ends, 7 bit, without Bcc. Date and DKIM-Signature are put in front when the
 * relay submits it. Pure: the same email gives the same bytes, and nothing is read from files or the network.
 */
export function compose(email: OutgoingEmail, { emailId, messageId }: MessageIds): Buffer {
  const { recipients, html } = email
  const text = email.text ?? (html === null ? '' : textAlternative(html))
  const composer = new MailComposer({
    from: [{ ...email.from }],
    to: recipients.to.map(address => ({ ...address })),
    cc: recipients.cc.map(address => ({ ...address })),
    replyTo: email.replyTo.map(address => ({ ...address })),
    messageId: `<${messageId}>`,
    headers: [
      { key: 'Subject', value: verbatim(encodeSubject(email.subject)) },
      { key: 'X-Mailroom-Id', value: emailId },
      ...email.headers.map(customHeader),
    ],
    text: body(text),
    ...(html === null ? {} : { html: body(html) }),
    attachments: email.attachments.map(attachmentPart),
    baseBoundary: emailId.slice(4),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return serialize(composer.compile())
}

/** Longer bodies, in characters, are base64: encoding them as quoted-printable takes too long. */
const maxQuotedLength = 64 * 1024

function body(content: string) {
  return content.length > maxQuotedLength ? { content, contentTransferEncoding: 'base64' } : { content }
}

function verbatim(value: string) {
  return { prepared: true, foldLines: true, value }
}

/** ASCII values are kept as they are, so that structured ones (RFC 2369, RFC 8058) stay intact; others are encoded. */
function customHeader({ name, value }: HeaderField) {
  const isIdentifiers = /^(in-reply-to|references)$/i.test(name)
  return { key: name, value: /^[ -~\t]*$/.test(value) && !isIdentifiers ? verbatim(value) : value }
}

/** RFC 2047, unless the subject is short ASCII words that no reader takes for encoded words. */
function encodeSubject(subject: string): string {
  if (!/[^ -~]|=\?|\S{70}| {10}/.test(subject)) return subject
  const letters = subject.match(/[ -~]/g)?.length ?? 0
  return encodeWord(subject, letters * 2 > subject.length ? 'Q' : 'B', 52)
}

function attachmentPart({ filename, contentType, contentId, content }: OutgoingAttachment) {
  return {
    filename,
    content,
    // A message part must not be encoded (RFC 2046 §5.2.1): one that would need it is attached as a plain file.
    contentType: /^message\//i.test(contentType) && !isSevenBit(content) ? 'application/octet-stream' : contentType,
    contentDisposition: contentId === null ? 'attachment' : 'inline',
    ...(contentId === null ? {} : { cid: contentId }),
  }
}

/** RFC 2045 §2.7: no octets above 127, no NUL, lines of at most 998 octets that end in CRLF or LF. */
function isSevenBit(content: Buffer): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  return !/[^\u0001-\u007f]|\r(?!\n)|[^\r\n]{999}/.test(content.toString('latin1'))
}
