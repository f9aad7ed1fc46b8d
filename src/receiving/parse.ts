import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { bodyStart, readFields, unfold } from '../mail/header.ts'
import { type MessageSummary, readHeaderSummary, readMessageSummary } from '../mail/message.ts'
import type { MessageSource } from '../mail/message-source.ts'
import { parseLimits } from '../mail/mime-parser.ts'
import { previewOf } from '../mail/preview.ts'
import { isAutomatic, isAutomaticReply } from '../mail/reports/auto-reply.ts'
import { mayReport, readReport } from '../mail/reports/read-report.ts'
import type { Report } from '../mail/reports/report.ts'
import { maxReportBytes } from '../mail/reports/report-mime.ts'

/** What filing needs of a message: no bodies, no attachments' bytes. */
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
  > {
  /** At most 200 characters. */
  readonly preview: string
  /** A program sent it by itself, such as a note of absence (RFC 3834 §5). */
  readonly isAutomatic: boolean
  /** It is an answer that a program gave by itself. */
  readonly isAutomaticReply: boolean
  /** What it reports of another message; null: its header is not one of a report. */
  readonly report: Report | null
  /** It has more parts than a scanner looks into: there is no use in asking one. */
  readonly isBeyondScanning: boolean
}

/** Of its text no more than the preview is kept: what lies further back is not decoded. */
const filingLimits = { ...parseLimits, maxTextBytes: 512 * 1024 }

/** Takes a message apart on this thread. */
export async function parseForFiling(content: MessageSource): Promise<FilingSummary> {
  const facts = await readMessageSummary(openContent(content), filingLimits)
  return {
    ...toFilingSummary(facts),
    isBeyondScanning: facts.hasMoreParts && (await hasDelimiters(content, maxScannedParts)),
    report: mayReport(facts.headers) ? readReport(await firstBytes(content, maxReportBytes)) : null,
  }
}

/** What clamd looks into by default (MaxFiles), though it goes through the others all the same. */
const maxScannedParts = 10_000

const maxFields = 500

/** What the first bytes of a message tell of whether a program wrote it, and what it reports; see maxReportBytes. */
export function parseForReport(first: Buffer): Pick<FilingSummary, 'report' | 'isAutomaticReply'> {
  const fields = readFields(first.subarray(0, bodyStart(first) ?? first.length), maxFields).map(unfold)
  return { report: mayReport(fields) ? readReport(first) : null, isAutomaticReply: isAutomaticReply(fields) }
}

/** Are there more lines than so many that may begin a part (RFC 2046 §5.1.1)? */
async function hasDelimiters(content: MessageSource, count: number): Promise<boolean> {
  let found = 0
  let end = Buffer.alloc(0)
  for await (const chunk of content.kind === 'memory' ? [content.bytes] : createReadStream(content.path)) {
    const bytes = Buffer.concat([end, chunk as Buffer])
    for (let at = bytes.indexOf('\n--'); at >= 0; at = bytes.indexOf('\n--', at + 3)) if (++found > count) return true
    end = Buffer.from(bytes.subarray(-2))
  }
  return false
}

/** What the header alone tells, when nothing more can be told: `problem` says why. */
export async function parseHeaderForFiling(content: MessageSource, problem: string): Promise<FilingSummary> {
  return toFilingSummary(await readHeaderSummary(await firstBytes(content, maxHeaderBytes), problem))
}

const maxHeaderBytes = 256 * 1024

/** The bytes, in memory as they are, of a file as a stream. */
export function openContent(content: MessageSource): Buffer | Readable {
  return content.kind === 'memory' ? content.bytes : createReadStream(content.path, { highWaterMark: 64 * 1024 })
}

async function firstBytes(content: MessageSource, count: number): Promise<Buffer> {
  if (content.kind === 'memory') return content.bytes.subarray(0, count)
  return Buffer.from(await Bun.file(content.path).slice(0, count).arrayBuffer())
}

function toFilingSummary(facts: MessageSummary): FilingSummary {
  const { from, fromFields, hops, to, subject, messageId, inReplyTo, references, attachments, problem } = facts
  const preview = previewOf(facts.text, facts.html)
  return {
    from,
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
    isAutomatic: isAutomatic(facts.headers),
    isAutomaticReply: isAutomaticReply(facts.headers),
    isBeyondScanning: false,
    report: null,
  }
}

const maxInlineBytes = 256 * 1024
const maxInlineHeaderBytes = 32 * 1024

/** Would checking and parsing it hold up the event loop for more than some 20 ms? */
export function isLarge(content: MessageSource): boolean {
  if (content.kind === 'file' || content.size > maxInlineBytes) return true
  if (content.size <= maxInlineHeaderBytes) return false
  return bodyStart(content.bytes.subarray(0, maxInlineHeaderBytes)) === null
}
