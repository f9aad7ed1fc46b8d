import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Content } from '../mail/content.ts'
import { bodyStart } from '../mail/header.ts'
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
}

/** Takes a message apart for filing. Never rejects for what is in it. */
export type Parse = (content: Content) => Promise<Outline>

/** Takes a message apart on this thread. */
export async function parseForFiling(content: Content): Promise<Outline> {
  return outlineOf(await outlineMessage(openContent(content)))
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

function outlineOf(facts: MessageFacts): Outline {
  const { from, fromFields, hops, to, subject, messageId, inReplyTo, references, attachments, problem } = facts
  const preview = previewOf(facts.text, facts.html)
  return { from, fromFields, hops, to, subject, messageId, inReplyTo, references, attachments, problem, preview }
}

const maxLightBytes = 256 * 1024
const maxLightHead = 32 * 1024

/** Would checking and parsing it hold up the event loop for more than some 20 ms? */
export function isHeavy(content: Content): boolean {
  if (content.kind === 'file' || content.size > maxLightBytes) return true
  if (content.size <= maxLightHead) return false
  return bodyStart(content.bytes.subarray(0, maxLightHead)) === null
}
