import { Readable } from 'node:stream'
import type { AddressObject, AttachmentStream, EmailAddress, Headers, HeaderValue, MessageText } from 'mailparser'
import { type Address, canonicalDomain } from './address.ts'
import { bodyStart, type HeaderField, type RawField, readFields, readIdentifiers, unfold } from './header.ts'
import type { ByteRange } from './message-source.ts'
import { type AttachmentSummary, attachmentSummary } from './mime/attachment-summary.ts'
import { DigestingParser } from './mime/digesting-parser.ts'
import { declaredCharset, withUtf8Text } from './mime/eight-bit.ts'
import { essentialsOf } from './mime/essential-fields.ts'
import { type DecodedTexts, textsOf } from './mime/plain-texts.ts'
import { readTextOnly, type TextOnlyMessage } from './mime/text-only.ts'
import { BoundedParser, type ParseLimits, PartParser, parseHeader, parseLimits, pieceBytes } from './mime-parser.ts'
import { endOf, readAll } from './streams.ts'
import { truncate, withoutControls } from './text.ts'

export interface ParsedAttachment extends AttachmentSummary {
  readonly content: Buffer
}

/** A parsed message without its attachments' bytes. Identifiers have no angle brackets; domains are A-labels. */
export interface MessageSummary {
  readonly from: readonly Address[]
  /** The number of From fields; a valid message has one (RFC 5322 §3.6). */
  readonly fromFields: number
  /** The number of Received fields. */
  readonly hops: number
  readonly to: readonly Address[]
  readonly cc: readonly Address[]
  readonly replyTo: readonly Address[]
  /** Decoded, without control characters, at most 998 characters; empty: none. */
  readonly subject: string
  readonly messageId: string | null
  readonly inReplyTo: string | null
  /** The last 100, oldest first as in the field. */
  readonly references: readonly string[]
  readonly date: Date | null
  readonly text: string | null
  readonly html: string | null
  /** In order, duplicates included. */
  readonly headers: readonly HeaderField[]
  readonly attachments: readonly AttachmentSummary[]
  /** Why not all of the message could be parsed; null: it could. */
  readonly problem: string | null
  /** The message has more parts than are parsed. */
  readonly hasMoreParts: boolean
  /** Parts of it are malformed: other readers, such as scanners, may find other attachments in it. */
  readonly isRepaired: boolean
  /**
   * The bodies of large attachments that every reader takes for base64, if it is valid, and nothing else; only where all of the
   * message was parsed and nothing repaired.
   */
  readonly base64Bodies: readonly ByteRange[]
}

/** A summary of which the text was not needed. */
export type SummaryWithoutText = Omit<MessageSummary, 'text' | 'html'>

export interface ParsedMessage extends MessageSummary {
  readonly attachments: readonly ParsedAttachment[]
}

/**
 * Called with each attachment while the message is parsed. Its bytes can be read once; those that are not read by the time
 * the promise resolves are skipped. The stream must not be destroyed.
 */
export type AttachmentVisitor<Result> = (content: Readable, position: number) => Promise<Result>

/**
 * Parses a message, its attachments with their bytes. Never throws for the content of a message: what cannot be parsed is
 * left out, and `problem` says why. Rejects only when `content` cannot be read.
 */
export async function parseMessage(
  content: Buffer | Readable,
  limits: ParseLimits = parseLimits,
): Promise<ParsedMessage> {
  const { summary, results } = await parse(content, limits, readAll)
  return {
    ...summary,
    attachments: summary.attachments.map((attachment, i) => ({
      ...attachment,
      content: results[i] ?? Buffer.alloc(0),
    })),
  }
}

/** Like {@link parseMessage}, without the attachments' bytes: memory does not grow with them. */
export async function readMessageSummary(
  content: Buffer | Readable,
  limits: ParseLimits = parseLimits,
): Promise<MessageSummary> {
  const { summary } = await parse(content, limits, ignoreContent, new DigestingParser(limits))
  return summary
}

/** Like {@link readMessageSummary}, without the text. A message that is nothing but text is not parsed for it. */
export async function readSummaryWithoutText(content: Buffer): Promise<SummaryWithoutText> {
  const textOnly = asTextOnly(content)
  return textOnly ? summaryOfTextOnly(textOnly, { text: null, html: null }) : readMessageSummary(content)
}

/**
 * The same summary as {@link readMessageSummary} gives, at a fraction of its cost, for a message that is nothing but a text
 * or two alternatives, in a common encoding. Undefined: it is another.
 */
export function readPlainSummary(content: Buffer): MessageSummary | undefined {
  const textOnly = asTextOnly(content)
  const texts = textOnly && textsOf(textOnly)
  return texts && summaryOfTextOnly(textOnly, texts)
}

function asTextOnly(content: Buffer): TextOnlyMessage | undefined {
  const { maxHeaderBytes, maxHeaders } = parseLimits
  return content.length <= maxHeaderBytes ? readTextOnly(content, maxHeaders) : undefined
}

function summaryOfTextOnly({ fields }: TextOnlyMessage, { text, html }: DecodedTexts): MessageSummary {
  const { headers, truncation: problem } = parseHeader(fields)
  return summaryOf(headers, fields, undefined, { ...withoutBody, ...shownTexts(text, html), problem })
}

/** Calls `visit` with each attachment, one after the other, and gives its results. */
export async function visitAttachments<Result>(
  content: Buffer | Readable,
  visit: AttachmentVisitor<Result>,
  limits: ParseLimits = parseLimits,
): Promise<readonly Result[]> {
  const { results } = await parse(content, limits, visit)
  return results
}

/** What the header of a part says of it. */
export interface PartHeader {
  readonly contentType: string
  /** Absent: the part has no Content-Disposition. */
  readonly disposition: string | undefined
}

/** Like {@link AttachmentVisitor}, for any part. */
export type PartVisitor = (content: Readable, header: PartHeader) => Promise<void>

/**
 * Calls `visit` with each part that is not multipart, one after the other: text and HTML, attachments, and attached messages
 * whole.
 */
export async function visitParts(content: Buffer | Readable, visit: PartVisitor): Promise<void> {
  await run(
    content,
    parseLimits,
    (part, _, { contentType, contentDisposition }) => visit(part, { contentType, disposition: contentDisposition }),
    new PartParser(parseLimits),
  )
}

/** The summary of a message whose body cannot be parsed (`problem` says why), from its header alone. */
export async function readHeaderSummary(
  head: Buffer,
  problem: string,
  limits: ParseLimits = parseLimits,
): Promise<MessageSummary> {
  const fields = readFields(head.subarray(0, bodyStart(head) ?? head.length), limits.maxHeaders)
  const output = await run(Buffer.from(essentialsOf(fields), 'latin1'), limits, ignoreContent)
  return summaryOf(output.headers, fields, declaredCharset(fields), { ...withoutBody, problem })
}

const withoutBody = {
  text: null,
  html: null,
  attachments: [],
  hasMoreParts: false,
  isRepaired: false,
  base64Bodies: [],
} as const

function ignoreContent(): Promise<null> {
  return Promise.resolve(null)
}

interface ParserOutput<Result> {
  readonly headers: Headers | undefined
  readonly fields: readonly RawField[]
  /** Of bytes in the header. */
  readonly charset: string | undefined
  readonly text: { readonly text?: string | undefined; readonly html?: string | boolean | undefined }
  readonly attachments: readonly AttachmentSummary[]
  readonly results: readonly Result[]
  readonly problem: string | null
  readonly hasMoreParts: boolean
  readonly isRepaired: boolean
  readonly base64Bodies: readonly ByteRange[]
  /** The first bytes, for when the parser failed before the end of the header. */
  readonly head: Buffer
}

async function parse<Result>(
  content: Buffer | Readable,
  limits: ParseLimits,
  visit: AttachmentVisitor<Result>,
  parser = new BoundedParser(limits),
) {
  const output = await run(content, limits, visit, parser)
  if (!output.headers && output.problem)
    return { summary: await readHeaderSummary(output.head, output.problem, limits), results: [] as readonly Result[] }
  const { text, html } = output.text
  const summary = summaryOf(output.headers, output.fields, output.charset, {
    ...shownTexts(text, html),
    attachments: output.attachments,
    problem: output.problem,
    hasMoreParts: output.hasMoreParts,
    isRepaired: output.isRepaired,
    base64Bodies: output.base64Bodies,
  })
  return { summary, results: output.results }
}

/** Without texts that are empty. */
function shownTexts(
  text: string | null | undefined,
  html: string | boolean | null | undefined,
): Pick<MessageSummary, 'text' | 'html'> {
  return {
    text: text?.trim() ? text.replace(/^\ufeff/, '') : null,
    html: typeof html === 'string' && html.trim() ? html : null,
  }
}

function run<Result>(
  content: Buffer | Readable,
  limits: ParseLimits,
  visit: (content: Readable, position: number, attachment: AttachmentStream) => Promise<Result>,
  parser = new BoundedParser(limits),
): Promise<ParserOutput<Result>> {
  return new Promise((resolve, reject) => {
    const attachments: AttachmentSummary[] = []
    const results: Result[] = []
    const head: Buffer[] = []
    let headBytes = 0
    let headers: Headers | undefined
    let fields: readonly RawField[] = []
    let text: MessageText | undefined
    let reading: Readable | undefined
    let visited: Promise<void> = Promise.resolve()

    const finish = (failure: string | null) => {
      if (content instanceof Readable) content.destroy()
      reading?.destroy()
      resolve({
        headers: headers && parser.headersInTextCharset(headers, fields),
        fields,
        charset: parser.headerCharset(fields),
        text: text ?? parser.textSoFar(),
        attachments,
        results,
        problem: failure ?? parser.truncation,
        hasMoreParts: failure !== null && parser.isPartLimit(failure),
        isRepaired: parser.isRepaired,
        base64Bodies: failure === null ? parser.base64Bodies() : [],
        head: Buffer.concat(head),
      })
    }
    const readAttachment = async (attachment: AttachmentStream) => {
      const position = attachments.length
      reading = attachment.content as Readable
      const ended = endOf(reading)
      ended.catch(() => undefined)
      results[position] = await visit(reading, position, attachment)
      // The parser knows the size and the hash only once all of the content was read.
      reading.resume()
      await ended
      attachments[position] = attachmentSummary(attachment, position)
      attachment.release()
    }

    parser.on('headers', parsed => {
      headers = parsed
      head.length = 0
    })
    parser.on('headerLines', lines => {
      fields = lines
    })
    parser.on('data', data => {
      if (data.type === 'text') text = data
      else visited = readAttachment(data).catch((error: unknown) => void parser.emit('error', error))
    })
    // The parser does not wait for the visitor of an attachment that the message ends with.
    parser.once('end', () => void visited.then(() => finish(null)))
    parser.once('error', (error: unknown) => {
      parser.on('error', () => undefined)
      finish(error instanceof Error ? error.message : String(error))
    })

    const bufferHead = (piece: Buffer) => {
      if (headers || headBytes >= limits.maxHeaderBytes) return
      head.push(piece.subarray(0, limits.maxHeaderBytes - headBytes))
      headBytes += piece.length
    }
    if (content instanceof Readable) {
      content.on('error', reject)
      content.on('data', bufferHead)
      content.pipe(parser)
    } else {
      bufferHead(content)
      for (let at = 0; at < content.length; at += pieceBytes) parser.write(content.subarray(at, at + pieceBytes))
      parser.end()
    }
  })
}

type BodySummary = Pick<
  MessageSummary,
  'text' | 'html' | 'attachments' | 'problem' | 'hasMoreParts' | 'isRepaired' | 'base64Bodies'
>

function summaryOf(
  headers: Headers | undefined,
  fields: readonly RawField[],
  charset: string | undefined,
  body: BodySummary,
): MessageSummary {
  const first = (key: string) => {
    const field = fields.find(candidate => candidate.key === key)
    return field && unfold(field).value
  }
  const subject = headers?.get('subject')
  return {
    from: addressesOf(headers?.get('from')),
    fromFields: fields.filter(field => field.key === 'from').length,
    hops: fields.filter(field => field.key === 'received').length,
    to: addressesOf(headers?.get('to')),
    cc: addressesOf(headers?.get('cc')),
    replyTo: addressesOf(headers?.get('reply-to')),
    subject: typeof subject === 'string' ? truncate(withoutControls(subject), 998) : '',
    messageId: readIdentifiers(first('message-id') ?? '')[0] ?? null,
    inReplyTo: readIdentifiers(first('in-reply-to') ?? '')[0] ?? null,
    references: readIdentifiers(first('references') ?? '').slice(-100),
    date: dateOf(first('date')),
    headers: fields.filter(field => field.key !== '').map(field => unfold(withUtf8Text(field, charset))),
    ...body,
  }
}

function dateOf(value: string | undefined): Date | null {
  const date = new Date(value ?? '')
  return Number.isNaN(date.getTime()) ? null : date
}

function addressesOf(value: HeaderValue | undefined): readonly Address[] {
  const objects = (Array.isArray(value) ? value : value ? [value] : []) as readonly AddressObject[]
  const addresses: Address[] = []
  const add = (emailAddress: EmailAddress) => {
    if (emailAddress.group) emailAddress.group.forEach(add)
    else if (emailAddress.address)
      addresses.push({
        address: withALabelDomain(emailAddress.address),
        name: truncate(withoutControls(emailAddress.name), 256),
      })
  }
  for (const object of objects) object.value.forEach(add)
  return addresses
}

function withALabelDomain(address: string): string {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  return withoutControls(
    at < 0 ? address : `${address.slice(0, at)}@${canonicalDomain(domain) ?? domain.toLowerCase()}`,
  )
}
