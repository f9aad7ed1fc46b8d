import type { Transform, TransformCallback } from 'node:stream'
import { type AttachmentStream, type Headers, MailParser, type MailParserOptions } from 'mailparser'
import type { RawField } from './header.ts'
import type { ByteRange } from './message-source.ts'
import { Base64BodyFinder } from './mime/base64-bodies.ts'
import { declaredCharset, needsCharset, withUtf8Text } from './mime/eight-bit.ts'
import { splitByBytes } from './mime/split-by-bytes.ts'
import { makeLenient, type Splitter } from './mime/splitter.ts'

/** How much of a message is parsed. What is past a limit is left out, and the summary says so. */
export interface ParseLimits {
  /** MIME parts, and levels of nesting. */
  readonly maxParts: number
  readonly maxDepth: number
  /** Header fields, and bytes of header, of each part. */
  readonly maxHeaders: number
  readonly maxHeaderBytes: number
  /** Encoded bytes of all text and HTML parts together; the rest is truncated. */
  readonly maxTextBytes: number
  /** Bytes of each of From, To, Cc and Reply-To; the rest is truncated, since some lists cost milliseconds per KiB. */
  readonly maxAddressBytes: number
}

export const parseLimits: ParseLimits = {
  maxParts: 1000,
  maxDepth: 100,
  maxHeaders: 1000,
  maxHeaderBytes: 256 * 1024,
  maxTextBytes: 4 * 1024 * 1024,
  maxAddressBytes: 24 * 1024,
}

/** Bytes that the parser is given at a time: it splits all of them into parts before our limits are checked. */
export const pieceBytes = 64 * 1024
/** Any part with a header field is longer. */
const minPartBytes = 32
/** The parser's own error, when one piece held so many smaller parts that our limit was not reached first. */
const splitterExcess = 'Max allowed child nodes exceeded'

interface MimeNode {
  readonly type: 'node'
  readonly parentNode: MimeNode | false
  readonly encoding?: string | false
  readonly contentType?: string | false
  readonly charset?: string | false
  /** It is the header of an attached message. */
  readonly messageNode?: boolean
  readonly headers: { getList(): readonly RawField[] }
  readonly _headerlen: number
  /** Its bytes, with the empty line at the end. */
  getHeaders(): Buffer
}

export interface MimeBody {
  readonly type: 'body' | 'data'
  readonly value: Buffer
}

/** The header of a part, a piece of its body, or (`data`) what is between parts. */
export type ParserChunk = MimeNode | MimeBody
export type ChunkCallback = (error?: Error | null) => void

/** A part as the parser keeps it. */
interface ParserPart {
  readonly node: { readonly encoding: string | false }
  readonly isAttachment?: boolean
  readonly decoder?: Transform
}

/** Members of the parser that its types lack (mailparser 3.9.31, lib/mail-parser.js). */
export interface MailParserInternals {
  processChunk(this: MailParser, chunk: ParserChunk, done: ChunkCallback): void
  processHeaders(this: MailParser, fields: readonly RawField[]): Headers
  getTextContent(this: MailParser): { readonly text?: string; readonly html?: string }
  readonly curnode: ParserPart | false
  readonly tree: object | false
  readonly splitter: Splitter & Transform
  readonly attachmentList: readonly AttachmentStream[]
  /** The media types of parts that are text unless their disposition says otherwise; all others are attachments. */
  textTypes: readonly string[]
}

const readFields = new Set(['from', 'to', 'cc', 'reply-to', 'subject', 'date', 'content-id'])

const addressFields = new Set(['from', 'to', 'cc', 'reply-to'])

const inner = MailParser.prototype as unknown as MailParserInternals

/** Options of the splitter that the parser hands on, which its types lack. */
interface SplitterOptions {
  /** Attached messages are not parsed: each is one part. */
  readonly ignoreEmbedded?: boolean
}

const options = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: true,
  checksumAlgo: 'sha256',
} as const satisfies MailParserOptions

/**
 * mailparser's streaming parser with our limits: it emits `error` at the first part past one, and {@link textSoFar} gives
 * the text before that. No content makes it throw outside its events.
 */
export class BoundedParser extends MailParser {
  /** Why something was truncated; null: nothing was. */
  truncation: string | null = null
  /** Whether parts of it are malformed, and were read in a way in which other readers may not read them. */
  isRepaired = false
  private inputBytes = 0
  private readonly bodies = new Base64BodyFinder()
  private parts = 0
  private readonly addressBytes = new Map<string, number>()
  private textBytes = 0
  private textCharset: string | undefined
  private readonly depths = new WeakMap<MimeNode, number>()
  private readonly limits: ParseLimits

  constructor(limits: ParseLimits, more: SplitterOptions = {}) {
    super({
      ...options,
      ...more,
      // Higher than ours, so that ours are reached first, when the parts before have been parsed.
      maxHeadSize: limits.maxHeaderBytes * 4,
      maxChildNodes: limits.maxParts + pieceBytes / minPartBytes,
    } as MailParserOptions)
    this.limits = limits
    const { splitter } = this as unknown as MailParserInternals
    makeLenient(splitter, () => {
      this.isRepaired = true
    })
    splitByBytes(splitter)
  }

  /** Overrides the parser's own, which copies all that it is given into pieces of at least 64 KiB. */
  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.inputBytes += bytes.length
    const { splitter } = this as unknown as MailParserInternals
    if (splitter.write(bytes)) done()
    else splitter.once('drain', () => done())
  }

  /** Overrides the parser's step for the header of each part and each piece of its body. */
  processChunk(chunk: ParserChunk, done: ChunkCallback): void {
    try {
      this.bodies.follow(chunk)
      const excess = chunk.type === 'node' ? this.excessOf(chunk) : null
      if (excess) done(new Error(excess))
      else if (isEmbedded(chunk)) this.processEmbedded(chunk, done)
      else if (chunk.type === 'body') this.processBody(chunk, done)
      else inner.processChunk.call(this, chunk, done)
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** Decodes a copy: decoders may write into what they are given, and the message is read by others at the same time. */
  protected processBody(body: MimeBody, done: ChunkCallback): void {
    inner.processChunk.call(this, { ...body, value: Buffer.from(this.withinLimit(body)) }, done)
  }

  /**
   * Workaround for mailparser 3.9.31: it waits for the body of an attached message that it parses, which nothing reads. Where
   * the message ends with that header, it would wait for ever.
   */
  private processEmbedded(header: MimeNode, done: ChunkCallback): void {
    inner.processChunk.call(this, header, done)
    const { curnode } = this as unknown as MailParserInternals
    if (curnode) curnode.decoder?.resume()
  }

  /** Overrides the parsing of a part's fields: only those that are needed, which saves a third of the work. */
  processHeaders(fields: readonly RawField[]): Headers {
    return this.processHeadersAs(declaredCharset(fields), fields)
  }

  /** Parses the header of another message, of which the parser gets nothing else. */
  parseHeaderAlone(fields: readonly RawField[]): { readonly headers: Headers; readonly truncation: string | null } {
    this.addressBytes.clear()
    this.truncation = null
    const headers = this.processHeaders(fields)
    return { headers, truncation: this.truncation }
  }

  private processHeadersAs(charset: string | undefined, fields: readonly RawField[]): Headers {
    return inner.processHeaders.call(
      this,
      fields
        .filter(field => readFields.has(field.key))
        .map(field => withUtf8Text(this.withinAddressLimit(field), charset)),
    )
  }

  /** The charset of bytes in the message's header: the one that it declares, or else that of its first text. */
  headerCharset(fields: readonly RawField[]): string | undefined {
    return declaredCharset(fields) ?? this.textCharset
  }

  /** What {@link processHeaders} gave for the message's header, or gives now that the charset of its text is known. */
  headersInTextCharset(headers: Headers, fields: readonly RawField[]): Headers {
    const isDeclared = this.textCharset === undefined || declaredCharset(fields) !== undefined
    if (isDeclared || !fields.some(field => readFields.has(field.key) && needsCharset(field))) return headers
    this.addressBytes.clear()
    return this.processHeadersAs(this.textCharset, fields)
  }

  private withinAddressLimit(field: RawField): RawField {
    const { key, line } = field
    if (!addressFields.has(key)) return field
    const used = this.addressBytes.get(key) ?? 0
    this.addressBytes.set(key, used + line.length)
    const remaining = Math.max(this.limits.maxAddressBytes - used, 0)
    if (line.length <= remaining) return field
    this.truncation = `addresses past ${this.limits.maxAddressBytes} bytes were left out`
    return { key, line: line.slice(0, Math.max(line.lastIndexOf(',', remaining), line.indexOf(':') + 1)) }
  }

  private excessOf(node: MimeNode): string | null {
    const { maxParts, maxDepth, maxHeaders, maxHeaderBytes } = this.limits
    const depth = node.parentNode ? (this.depths.get(node.parentNode) ?? 0) + 1 : 0
    this.depths.set(node, depth)
    if (node.charset && String(node.contentType).startsWith('text/')) this.textCharset ??= node.charset
    if (++this.parts > maxParts) return `there are more than ${maxParts} parts`
    if (depth > maxDepth) return `parts are nested more than ${maxDepth} deep`
    if (node._headerlen > maxHeaderBytes) return `a part's header has more than ${maxHeaderBytes} bytes`
    if (node.headers.getList().length > maxHeaders) return `a part has more than ${maxHeaders} header fields`
    return null
  }

  private withinLimit({ value }: MimeBody): Buffer {
    const part = (this as unknown as MailParserInternals).curnode
    if (!part || part.isAttachment) return value
    const remaining = this.limits.maxTextBytes - this.textBytes
    this.textBytes += value.length
    if (value.length <= remaining) return value
    this.truncation = `text past ${this.limits.maxTextBytes} bytes was left out`
    return value.subarray(0, Math.max(remaining, 0))
  }

  /** Whether the part with this header, which was parsed last, is one that the parser treats as an attachment. */
  protected isAttachment(node: ParserChunk): boolean {
    if (node.type !== 'node' || isEmbedded(node)) return false
    const part = (this as unknown as MailParserInternals).curnode
    return part !== false && part.isAttachment === true
  }

  /** Whether this error message means that the message has more parts than are parsed. */
  isPartLimit(message: string): boolean {
    return this.parts > this.limits.maxParts || message === splitterExcess
  }

  /** The bodies of a message, once all of it was parsed, that every reader takes for files in base64. */
  base64Bodies(): readonly ByteRange[] {
    return this.isRepaired ? [] : this.bodies.bodiesOf(this.inputBytes)
  }

  /** The text of the parts that were parsed completely; for use after an `error`. */
  textSoFar(): { readonly text?: string; readonly html?: string } {
    try {
      return (this as unknown as MailParserInternals).tree ? inner.getTextContent.call(this) : {}
    } catch {
      return {}
    }
  }
}

/** Kept, since opening a parser for each header would be a fifth of the work. */
let headerParser: BoundedParser | undefined

/**
 * Parses a message's header alone, within {@link parseLimits}. `truncation`: why something of it was left out; null: nothing
 * was.
 */
export function parseHeader(fields: readonly RawField[]): {
  readonly headers: Headers
  readonly truncation: string | null
} {
  headerParser ??= new BoundedParser(parseLimits)
  return headerParser.parseHeaderAlone(fields)
}

/** Whether a chunk is the header of an attached message that is parsed with the message. */
function isEmbedded(chunk: ParserChunk): chunk is MimeNode {
  return chunk.type === 'node' && chunk.contentType === 'message/rfc822' && chunk.messageNode === true
}

/** The same parser with every part that is not multipart as an attachment: text, HTML and attached messages too. */
export class PartParser extends BoundedParser {
  constructor(limits: ParseLimits) {
    super(limits, { ignoreEmbedded: true })
    ;(this as unknown as MailParserInternals).textTypes = []
  }
}
