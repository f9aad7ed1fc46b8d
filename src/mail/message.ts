import { Readable } from 'node:stream'
import type { AddressObject, AttachmentStream, EmailAddress, Headers, HeaderValue, MessageText } from 'mailparser'
import { type Address, canonicalDomain } from './address.ts'
import { bodyStart, type HeaderField, type RawField, readFields, readIdentifiers, unfold } from './header.ts'
import { BoundedParser, type ParseLimits, parseLimits, pieceBytes } from './mime-parser.ts'
import { endOf, readAll } from './streams.ts'
import { truncate } from './text.ts'

/** What is known of an attachment without its bytes. */
export interface AttachmentSummary {
  /** As the sender calls it, without control characters, at most 255; a name of ours where there is none. */
  readonly filename: string
  readonly contentType: string
  /** Bytes, decoded. */
  readonly size: number
  /** Without angle brackets. */
  readonly contentId: string | null
  readonly disposition: 'attachment' | 'inline'
  readonly sha256: Buffer
}

export interface ParsedAttachment extends AttachmentSummary {
  readonly content: Buffer
}

/** What a message says of itself. Identifiers are without angle brackets; addresses have the domain as an A-label. */
export interface MessageSummary {
  readonly from: readonly Address[]
  /** How many From fields there are: one where the message is in order (RFC 5322 §3.6). */
  readonly fromFields: number
  /** How many Received fields there are. */
  readonly hops: number
  readonly to: readonly Address[]
  readonly cc: readonly Address[]
  readonly replyTo: readonly Address[]
  /** Decoded, without control characters, at most 998; empty: none. */
  readonly subject: string
  readonly messageId: string | null
  readonly inReplyTo: string | null
  /** Oldest first, as the field has them; the last 100. */
  readonly references: readonly string[]
  readonly date: Date | null
  readonly text: string | null
  readonly html: string | null
  /** In order, duplicates kept. */
  readonly headers: readonly HeaderField[]
  readonly attachments: readonly AttachmentSummary[]
  /** Why not all of it could be taken apart; null: it could. */
  readonly problem: string | null
  /** There are more parts than were taken apart. */
  readonly hasMoreParts: boolean
}

export interface ParsedMessage extends MessageSummary {
  readonly attachments: readonly ParsedAttachment[]
}

/**
 * What is done with an attachment when the parser meets it. Its bytes flow by once; what is not read by the time the
 * promise resolves is passed over. The stream must not be destroyed.
 */
export type AttachmentVisitor<Kept> = (content: Readable, position: number) => Promise<Kept>

/**
 * Takes a message apart, attachments with their bytes. Never throws for what is in the message: what cannot be taken apart
 * is left out, and `problem` says so. Rejects only when `content` itself cannot be read.
 */
export async function parseMessage(
  content: Buffer | Readable,
  limits: ParseLimits = parseLimits,
): Promise<ParsedMessage> {
  const { facts, kept } = await parse(content, limits, readAll)
  return {
    ...facts,
    attachments: facts.attachments.map((attachment, i) => ({ ...attachment, content: kept[i] ?? Buffer.alloc(0) })),
  }
}

/** As {@link parseMessage}, without the attachments' bytes: memory does not grow with them. */
export async function readMessageSummary(
  content: Buffer | Readable,
  limits: ParseLimits = parseLimits,
): Promise<MessageSummary> {
  const { facts } = await parse(content, limits, ignoreContent)
  return facts
}

/** Hands each attachment's bytes to `visit`, one after the other, and gives what it said of each. */
export async function visitAttachments<Kept>(
  content: Buffer | Readable,
  visit: AttachmentVisitor<Kept>,
  limits: ParseLimits = parseLimits,
): Promise<readonly Kept[]> {
  const { kept } = await parse(content, limits, visit)
  return kept
}

/** What can be told from the header alone, for a message that nothing more is to be tried with. */
export async function readHeaderSummary(
  head: Buffer,
  problem: string,
  limits: ParseLimits = parseLimits,
): Promise<MessageSummary> {
  const fields = readFields(head.subarray(0, bodyStart(head) ?? head.length), limits.maxHeaders)
  const shown = await run(Buffer.from(essentialsOf(fields), 'latin1'), limits, ignoreContent)
  return summaryOf(shown.headers, fields, { text: null, html: null, attachments: [], problem, hasMoreParts: false })
}

function ignoreContent(): Promise<null> {
  return Promise.resolve(null)
}

interface ParserOutput<Kept> {
  readonly headers: Headers | undefined
  readonly fields: readonly RawField[]
  readonly text: { readonly text?: string | undefined; readonly html?: string | boolean | undefined }
  readonly attachments: readonly AttachmentSummary[]
  readonly kept: readonly Kept[]
  readonly problem: string | null
  readonly hasMoreParts: boolean
  /** The first bytes, for when the parser did not come as far as the header. */
  readonly head: Buffer
}

async function parse<Kept>(content: Buffer | Readable, limits: ParseLimits, visit: AttachmentVisitor<Kept>) {
  const ran = await run(content, limits, visit)
  if (!ran.headers && ran.problem)
    return { facts: await readHeaderSummary(ran.head, ran.problem, limits), kept: [] as readonly Kept[] }
  const { text, html } = ran.text
  const facts = summaryOf(ran.headers, ran.fields, {
    text: text?.trim() ? text : null,
    html: typeof html === 'string' && html.trim() ? html : null,
    attachments: ran.attachments,
    problem: ran.problem,
    hasMoreParts: ran.hasMoreParts,
  })
  return { facts, kept: ran.kept }
}

function run<Kept>(
  content: Buffer | Readable,
  limits: ParseLimits,
  visit: AttachmentVisitor<Kept>,
): Promise<ParserOutput<Kept>> {
  return new Promise((resolve, reject) => {
    const parser = new BoundedParser(limits)
    const attachments: AttachmentSummary[] = []
    const kept: Kept[] = []
    const head: Buffer[] = []
    let headBytes = 0
    let headers: Headers | undefined
    let fields: readonly RawField[] = []
    let text: MessageText | undefined
    let reading: Readable | undefined

    const finish = (failure: string | null) => {
      if (content instanceof Readable) content.destroy()
      reading?.destroy()
      resolve({
        headers,
        fields,
        text: text ?? parser.textSoFar(),
        attachments,
        kept,
        problem: failure ?? parser.truncation,
        hasMoreParts: failure !== null && parser.isPartLimit(failure),
        head: Buffer.concat(head),
      })
    }
    const take = async (attachment: AttachmentStream) => {
      const position = attachments.length
      reading = attachment.content as Readable
      const ended = endOf(reading)
      ended.catch(() => undefined)
      kept[position] = await visit(reading, position)
      // The parser knows size and hash once all of it has flowed by, wanted or not.
      reading.resume()
      await ended
      attachments[position] = attachmentSummary(attachment, position)
      attachment.release()
    }

    parser.on('headers', found => {
      headers = found
      head.length = 0
    })
    parser.on('headerLines', found => {
      fields = found
    })
    parser.on('data', found => {
      if (found.type === 'text') text = found
      else take(found).catch((error: unknown) => parser.emit('error', error))
    })
    parser.once('end', () => finish(null))
    parser.once('error', (error: unknown) => {
      parser.on('error', () => undefined)
      finish(error instanceof Error ? error.message : String(error))
    })

    const keepHead = (piece: Buffer) => {
      if (headers || headBytes >= limits.maxHeaderBytes) return
      head.push(piece.subarray(0, limits.maxHeaderBytes - headBytes))
      headBytes += piece.length
    }
    if (content instanceof Readable) {
      content.on('error', reject)
      content.on('data', keepHead)
      content.pipe(parser)
    } else {
      keepHead(content)
      for (let at = 0; at < content.length; at += pieceBytes) parser.write(content.subarray(at, at + pieceBytes))
      parser.end()
    }
  })
}

type BodySummary = Pick<MessageSummary, 'text' | 'html' | 'attachments' | 'problem' | 'hasMoreParts'>

function summaryOf(headers: Headers | undefined, fields: readonly RawField[], rest: BodySummary): MessageSummary {
  const first = (key: string) => {
    const field = fields.find(field => field.key === key)
    return field && unfold(field).value
  }
  const replied = readIdentifiers(first('in-reply-to') ?? '')
  const subject = headers?.get('subject')
  return {
    from: addressesOf(headers?.get('from')),
    fromFields: fields.filter(field => field.key === 'from').length,
    hops: fields.filter(field => field.key === 'received').length,
    to: addressesOf(headers?.get('to')),
    cc: addressesOf(headers?.get('cc')),
    replyTo: addressesOf(headers?.get('reply-to')),
    subject: typeof subject === 'string' ? truncate(clean(subject), 998) : '',
    messageId: readIdentifiers(first('message-id') ?? '')[0] ?? null,
    inReplyTo: replied[0] ?? null,
    references: readIdentifiers(first('references') ?? '').slice(-100),
    date: dateOf(first('date')),
    headers: fields.filter(field => field.key !== '').map(unfold),
    ...rest,
  }
}

function dateOf(value: string | undefined): Date | null {
  const date = new Date(value ?? '')
  return Number.isNaN(date.getTime()) ? null : date
}

function addressesOf(value: HeaderValue | undefined): readonly Address[] {
  const objects = (Array.isArray(value) ? value : value ? [value] : []) as readonly AddressObject[]
  const found: Address[] = []
  const add = (emailAddress: EmailAddress) => {
    if (emailAddress.group) emailAddress.group.forEach(add)
    else if (emailAddress.address)
      found.push({ address: withALabel(emailAddress.address), name: truncate(clean(emailAddress.name), 256) })
  }
  for (const object of objects) object.value.forEach(add)
  return found
}

function withALabel(address: string): string {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  return clean(at < 0 ? address : `${address.slice(0, at)}@${canonicalDomain(domain) ?? domain.toLowerCase()}`)
}

function clean(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim()
}

function attachmentSummary(attachment: AttachmentStream, position: number): AttachmentSummary {
  const contentType = truncate(clean(attachment.contentType || 'application/octet-stream'), 255)
  const contentId = truncate(clean(attachment.cid ?? ''), 255)
  return {
    filename: truncate(clean(attachment.filename ?? ''), 255) || nameless(contentType, position),
    contentType,
    size: attachment.size,
    contentId: contentId || null,
    disposition: attachment.contentDisposition === 'inline' || attachment.related ? 'inline' : 'attachment',
    sha256: Buffer.from(attachment.checksum, 'hex'),
  }
}

function nameless(contentType: string, position: number): string {
  if (contentType === 'message/rfc822') return `message-${position + 1}.eml`
  return `attachment-${position + 1}`
}

const essential = new Set(['from', 'to', 'cc', 'reply-to', 'subject'])
const maxEssential = 16 * 1024

/** A header of only the fields that are shown, cut to a size that costs little. */
function essentialsOf(fields: readonly RawField[]): string {
  const lines = fields.filter(field => essential.has(field.key)).slice(0, 20)
  return `${lines.map(line => line.line.slice(0, maxEssential)).join('\r\n')}\r\n\r\n`
}
