import { type Headers, MailParser, type MailParserOptions } from 'mailparser'
import type { RawField } from './header.ts'

/** How much of a message is taken apart; what lies past a limit is left as it is, and said to be. */
export interface ParseLimits {
  /** MIME parts, and how deep they may be nested. */
  readonly maxParts: number
  readonly maxDepth: number
  /** Header fields, and their bytes, of any one part. */
  readonly maxHeaders: number
  readonly maxHeaderBytes: number
  /** Bytes of all text and HTML parts together, as they are encoded; the rest is cut off. */
  readonly maxTextBytes: number
  /** Bytes of From, of To, of Cc and of Reply-To; what is past them is not read, since some lists take milliseconds a KiB. */
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

/** How much the parser is given at a time: it splits a piece before the parts in it are looked at. */
export const pieceBytes = 64 * 1024
/** A part with any header field takes more. */
const minPartBytes = 32
/** What the parser says when one piece held so many smaller ones that ours was not met first. */
const splitterExcess = 'Max allowed child nodes exceeded'

interface MimeNode {
  readonly type: 'node'
  readonly parentNode: MimeNode | false
  readonly contentType?: string | false
  /** It is the header of a message within a message. */
  readonly messageNode?: boolean
  readonly headers: { getList(): readonly RawField[] }
  readonly _headerlen: number
  /** Its bytes, with the empty line. */
  getHeaders(): Buffer
}

interface MimeBody {
  readonly type: 'body' | 'data'
  readonly value: Buffer
}

/** A part's header, a piece of its body, or (`data`) what stands between parts. */
export type ParserChunk = MimeNode | MimeBody
export type ChunkCallback = (error?: Error | null) => void

/** What the parser has beside its types (mailparser 3.9.31, lib/mail-parser.js). */
interface MailParserInternals {
  processChunk(this: MailParser, chunk: ParserChunk, done: ChunkCallback): void
  processHeaders(this: MailParser, fields: readonly RawField[]): Headers
  getTextContent(this: MailParser): { readonly text?: string; readonly html?: string }
  readonly curnode: { readonly isAttachment?: boolean } | false
  readonly tree: object | false
}

const readFields = new Set(['from', 'to', 'cc', 'reply-to', 'subject', 'date', 'content-id'])

const addressFields = new Set(['from', 'to', 'cc', 'reply-to'])

const inner = MailParser.prototype as unknown as MailParserInternals

const options = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: true,
  checksumAlgo: 'sha256',
} as const satisfies MailParserOptions

/**
 * mailparser's streaming parser with limits of ours: it emits `error` at the first part past one, and then what was met
 * before is in {@link textSoFar}. Nothing that a part holds makes it throw outside its events.
 */
export class BoundedParser extends MailParser {
  /** Why something was cut off; null: nothing was. */
  truncation: string | null = null
  private parts = 0
  private readonly addressBytes = new Map<string, number>()
  private textBytes = 0
  private readonly depths = new WeakMap<MimeNode, number>()
  private readonly limits: ParseLimits

  constructor(limits: ParseLimits) {
    super({
      ...options,
      // Ours are to be met first, when the parts before have been taken apart.
      maxHeadSize: limits.maxHeaderBytes * 4,
      maxChildNodes: limits.maxParts + pieceBytes / minPartBytes,
    } as MailParserOptions)
    this.limits = limits
  }

  /** Overrides the parser's own step, which runs once for each part's header and each piece of its body. */
  processChunk(chunk: ParserChunk, done: ChunkCallback): void {
    try {
      const excess = chunk.type === 'node' ? this.excessOf(chunk) : null
      if (excess) done(new Error(excess))
      else inner.processChunk.call(this, chunk.type === 'body' ? this.withinLimit(chunk) : chunk, done)
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** Overrides how a part's fields are read: only those that are shown or needed, which is a third of the work saved. */
  processHeaders(fields: readonly RawField[]): Headers {
    return inner.processHeaders.call(
      this,
      fields.filter(field => readFields.has(field.key)).map(field => this.withinAddressLimit(field)),
    )
  }

  private withinAddressLimit(field: RawField): RawField {
    const { key, line } = field
    if (!addressFields.has(key)) return field
    const used = this.addressBytes.get(key) ?? 0
    this.addressBytes.set(key, used + line.length)
    const room = Math.max(this.limits.maxAddressBytes - used, 0)
    if (line.length <= room) return field
    this.truncation = `addresses past ${this.limits.maxAddressBytes} bytes were left out`
    return { key, line: line.slice(0, Math.max(line.lastIndexOf(',', room), line.indexOf(':') + 1)) }
  }

  private excessOf(node: MimeNode): string | null {
    const { maxParts, maxDepth, maxHeaders, maxHeaderBytes } = this.limits
    const depth = node.parentNode ? (this.depths.get(node.parentNode) ?? 0) + 1 : 0
    this.depths.set(node, depth)
    if (++this.parts > maxParts) return `there are more than ${maxParts} parts`
    if (depth > maxDepth) return `parts are nested more than ${maxDepth} deep`
    if (node._headerlen > maxHeaderBytes) return `a part's header has more than ${maxHeaderBytes} bytes`
    if (node.headers.getList().length > maxHeaders) return `a part has more than ${maxHeaders} header fields`
    return null
  }

  private withinLimit(body: MimeBody): MimeBody {
    const part = (this as unknown as MailParserInternals).curnode
    if (!part || part.isAttachment) return body
    const room = this.limits.maxTextBytes - this.textBytes
    this.textBytes += body.value.length
    if (body.value.length <= room) return body
    this.truncation = `text past ${this.limits.maxTextBytes} bytes was left out`
    return { ...body, value: body.value.subarray(0, Math.max(room, 0)) }
  }

  /** Is the part with this header, which was met just now, one that the parser gives as an attachment? */
  protected isAttachment(node: ParserChunk): boolean {
    if (node.type !== 'node' || (node.contentType === 'message/rfc822' && node.messageNode)) return false
    const part = (this as unknown as MailParserInternals).curnode
    return part !== false && part.isAttachment === true
  }

  /** Is this why there was an `error`: more parts than are taken apart? */
  isPartLimit(why: string): boolean {
    return this.parts > this.limits.maxParts || why === splitterExcess
  }

  /** The text of the parts that were met whole; for after an `error`. */
  textSoFar(): { readonly text?: string; readonly html?: string } {
    try {
      return (this as unknown as MailParserInternals).tree ? inner.getTextContent.call(this) : {}
    } catch {
      return {}
    }
  }
}
