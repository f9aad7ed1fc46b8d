import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Content } from '../mail/content.ts'
import { bodyStart, type HeaderField } from '../mail/header.ts'
import { type MessageFacts, outlineHeader, outlineMessage } from '../mail/message.ts'
import { previewOf } from '../mail/preview.ts'

/** What filing needs of a message: no bodies, no attachments' bytes. */
export interface Outline
  extends Pick<
    MessageFacts,
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
  /** It has more parts than a scanner looks into: there is no use in asking one. */
  readonly isBeyondScanning: boolean
}

/** Takes a message apart for filing. Never rejects for what is in it. */
export type Parse = (content: Content) => Promise<Outline>

/** Takes a message apart on this thread. */
export async function parseForFiling(content: Content): Promise<Outline> {
  const facts = await outlineMessage(openContent(content))
  return outlineOf(facts, facts.hasMoreParts && (await hasDelimiters(content, maxScannedParts)))
}

/** What clamd looks into by default (MaxFiles), though it goes through the others all the same. */
const maxScannedParts = 10_000

/** Are there more lines than so many that may begin a part (RFC 2046 §5.1.1)? */
async function hasDelimiters(content: Content, count: number): Promise<boolean> {
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
export async function parseHeaderForFiling(content: Content, problem: string): Promise<Outline> {
  return outlineOf(await outlineHeader(await firstBytes(content, maxHead), problem))
}

const maxHead = 256 * 1024

/** The bytes, in memory as they are, of a file as a stream. */
export function openContent(content: Content): Buffer | Readable {
  return content.kind === 'memory' ? content.bytes : createReadStream(content.path, { highWaterMark: 64 * 1024 })
}

async function firstBytes(content: Content, count: number): Promise<Buffer> {
  if (content.kind === 'memory') return content.bytes.subarray(0, count)
  return Buffer.from(await Bun.file(content.path).slice(0, count).arrayBuffer())
}

function outlineOf(facts: MessageFacts, isBeyondScanning = false): Outline {
  const { from, fromFields, hops, to, subject, messageId, inReplyTo, references, attachments, problem } = facts
  const preview = previewOf(facts.text, facts.html)
  const isAutomatic = facts.headers.some(isAutoSubmitted)
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
    isAutomatic,
    isBeyondScanning,
  }
}

/** RFC 3834 §5: any keyword but `no`; parameters and comments may follow. */
function isAutoSubmitted({ name, value }: HeaderField): boolean {
  return name.toLowerCase() === 'auto-submitted' && !/^\s*no\s*(?:[;(]|$)/i.test(value)
}

const maxLightBytes = 256 * 1024
const maxLightHead = 32 * 1024

/** Would checking and parsing it hold up the event loop for more than some 20 ms? */
export function isHeavy(content: Content): boolean {
  if (content.kind === 'file' || content.size > maxLightBytes) return true
  if (content.size <= maxLightHead) return false
  return bodyStart(content.bytes.subarray(0, maxLightHead)) === null
}
