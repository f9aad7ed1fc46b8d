import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { filePieces } from '../base/file-pieces.ts'
import { type ReplyText, shortReplyTextOf } from '../inbox/messages/reply-text.ts'
import { contentWords } from '../inbox/search/searchable-text.ts'
import { bodyStart, type HeaderField, readFields, unfold } from '../mail/header.ts'
import { type MessageSummary, readHeaderSummary, readMessageSummary, readPlainSummary } from '../mail/message.ts'
import type { MessageSource } from '../mail/message-source.ts'
import { parseLimits, pieceBytes } from '../mail/mime-parser.ts'
import { previewOf } from '../mail/preview.ts'
import { isAutomatic, isAutomaticReply } from '../mail/reports/auto-reply.ts'
import { mayReport, type ReportEnvelope, readReport } from '../mail/reports/read-report.ts'
import type { Report } from '../mail/reports/report.ts'
import { decodeEncodedWords, fieldOf, maxReportBytes } from '../mail/reports/report-mime.ts'
import { oneLine } from '../mail/text.ts'

/** What filing needs of a message: neither its bodies nor the bytes of its attachments. */
export interface FilingSummary
  extends Pick<
    MessageSummary,
    | 'from'
    | 'fromFields'
    | 'hops'
    | 'to'
    | 'subject'
    | 'messageId'
    | 'inReplyTo'
    | 'references'
    | 'attachments'
    | 'problem'
    | 'isRepaired'
    | 'base64Bodies'
  > {
  /** At most 200 characters. */
  readonly preview: string
  /** The words that search finds it by, without those of its row; null: it is indexed later. */
  readonly words: string | null
  /** What is new in its plain text; null: it has none. */
  readonly reply: ReplyText | null
  /** What From says where it has no address, such as `MAILER-DAEMON`; else empty. */
  readonly fromText: string
  /** It has a valid Date. */
  readonly hasDate: boolean
  /** A program sent it, such as an out-of-office reply (RFC 3834 §5). */
  readonly isAutomatic: boolean
  /** It is an auto-reply. */
  readonly isAutomaticReply: boolean
  /** What it reports about another message; null: its header is not that of a report. */
  readonly report: Report | null
  /** It has more parts than a scanner looks into, so it is not scanned. */
  readonly isBeyondScanning: boolean
  /** SHA-256 of a message in a file, if it was parsed to its end; else null: whoever stores it computes it. */
  readonly sha256: Buffer | null
}

/** Filing needs no more of the text than the preview; what lies further back is not decoded. */
const filingLimits = { ...parseLimits, maxTextBytes: 512 * 1024 }

/** A message to parse. */
export interface UnparsedMessage {
  readonly content: MessageSource
  readonly envelope: ReportEnvelope
}

/** Parses a message on this thread. Never rejects because of what is in it. */
export async function parseForFiling({ content, envelope }: UnparsedMessage): Promise<FilingSummary> {
  const plain = content.kind === 'memory' ? readPlainSummary(content.bytes) : undefined
  const { bytes, digest } = openToParse(content)
  const summary = plain ?? (await readMessageSummary(bytes, filingLimits))
  return {
    ...toFilingSummary(summary),
    words: await contentWords(summary),
    isBeyondScanning: summary.hasMoreParts && (await hasDelimiters(content, maxScannedParts)),
    report: mayReport(summary.headers, envelope)
      ? readReport(await firstBytes(content, maxReportBytes), envelope)
      : null,
    sha256: digest(),
  }
}

/** clamd scans no more parts by default (MaxFiles), though it still spends its time on the others. */
const maxScannedParts = 10_000

const maxFields = 500

/** Whether a message is an auto-reply, and what it reports, from its first `maxReportBytes`. */
export function parseForReport(
  first: Buffer,
  envelope: ReportEnvelope,
): Pick<FilingSummary, 'report' | 'isAutomaticReply'> {
  const fields = readFields(first.subarray(0, bodyStart(first) ?? first.length), maxFields).map(unfold)
  const report = mayReport(fields, envelope) ? readReport(first, envelope) : null
  return { report, isAutomaticReply: isAutomaticReply(fields) }
}

/** Are there more than `count` lines that may begin a part (RFC 2046 §5.1.1)? */
async function hasDelimiters(content: MessageSource, count: number): Promise<boolean> {
  let delimiters = 0
  let end = Buffer.alloc(0)
  for await (const chunk of content.kind === 'memory' ? [content.bytes] : createReadStream(content.path)) {
    const bytes = Buffer.concat([end, chunk as Buffer])
    for (let at = bytes.indexOf('\n--'); at >= 0; at = bytes.indexOf('\n--', at + 3))
      if (++delimiters > count) return true
    end = Buffer.from(bytes.subarray(-2))
  }
  return false
}

/** What the header alone gives, for a message that cannot be parsed; `problem` says why. */
export async function parseHeaderForFiling(content: MessageSource, problem: string): Promise<FilingSummary> {
  return toFilingSummary(await readHeaderSummary(await firstBytes(content, maxHeaderBytes), problem))
}

const maxHeaderBytes = 256 * 1024

interface UnparsedBytes {
  readonly bytes: Buffer | Readable
  /** SHA-256 of a file, once it was read to its end; else null. */
  readonly digest: () => Buffer | null
}

/** The bytes for the parser. Those of a file are hashed while they are read. */
function openToParse(content: MessageSource): UnparsedBytes {
  if (content.kind === 'memory') return { bytes: content.bytes, digest: () => null }
  const pieces = filePieces(content.path, () => Buffer.allocUnsafeSlow(pieceBytes))
  const hash = createHash('sha256')
  let isAtEnd = false
  const bytes = new Readable({
    highWaterMark: 1,
    read() {
      const { value: piece } = pieces.next()
      if (piece) hash.update(piece)
      else isAtEnd = true
      this.push(piece ?? null)
    },
    destroy(error, done) {
      pieces.return()
      done(error)
    },
  })
  return { bytes, digest: () => (isAtEnd ? hash.digest() : null) }
}

/** The bytes: as they are in memory, or as a stream from the file. */
export function openContent(content: MessageSource): Buffer | Readable {
  return content.kind === 'memory' ? content.bytes : createReadStream(content.path, { highWaterMark: pieceBytes })
}

async function firstBytes(content: MessageSource, count: number): Promise<Buffer> {
  if (content.kind === 'memory') return content.bytes.subarray(0, count)
  return Buffer.from(await Bun.file(content.path).slice(0, count).arrayBuffer())
}

function toFilingSummary(summary: MessageSummary): FilingSummary {
  const { from, fromFields, hops, to, subject, messageId, inReplyTo, references, attachments, problem, date } = summary
  const preview = previewOf(summary.text, summary.html)
  return {
    from,
    fromText: from.length > 0 ? '' : fromTextOf(summary.headers),
    fromFields,
    hops,
    to,
    subject,
    messageId,
    inReplyTo,
    references,
    attachments,
    problem,
    preview,
    words: null,
    reply: summary.text === null ? null : shortReplyTextOf(summary.text),
    hasDate: date !== null,
    isRepaired: summary.isRepaired,
    base64Bodies: summary.base64Bodies,
    isAutomatic: isAutomatic(summary.headers),
    isAutomaticReply: isAutomaticReply(summary.headers),
    isBeyondScanning: false,
    sha256: null,
    report: null,
  }
}

function fromTextOf(headers: readonly HeaderField[]): string {
  const value = decodeEncodedWords(fieldOf(headers, 'from') ?? '')
  return oneLine(value.replace(/["<>]/g, ' '))
}

const maxInlineBytes = 256 * 1024
const maxInlineHeaderBytes = 32 * 1024

/** Could authenticating and parsing it block the event loop for more than some 20 ms? */
export function isLarge(content: MessageSource): boolean {
  if (content.kind === 'file' || content.size > maxInlineBytes) return true
  if (content.size <= maxInlineHeaderBytes) return false
  return bodyStart(content.bytes.subarray(0, maxInlineHeaderBytes)) === null
}
