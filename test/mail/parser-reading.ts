import type { AttachmentStream, MessageText } from 'mailparser'
import { DigestingParser } from '../../src/mail/mime/digesting-parser.ts'
import type { Splitter, SplitterNode } from '../../src/mail/mime/splitter.ts'
import { BoundedParser, parseLimits } from '../../src/mail/mime-parser.ts'
import { readAll } from '../../src/mail/streams.ts'

// How a message is read: by the parser as it is used, and as mailsplit and libbase64 read it by themselves.

/** What a parser finds in a message, for comparison. */
export interface Reading {
  readonly error: string | null
  readonly truncation: string | null
  readonly isRepaired: boolean
  readonly fields: unknown
  readonly text: unknown
  readonly attachments: readonly object[]
}

/** What the parser finds in a message that comes in pieces of these sizes, in bytes, the last of them again and again. */
export function readingOf(message: Buffer, pieceSizes: readonly number[]): Promise<Reading> {
  return readWith(new BoundedParser(parseLimits), message, pieceSizes)
}

/** What it finds where nobody reads the attachments: the same without their content. */
export async function summaryReadingOf(message: Buffer, pieceSizes: readonly number[]): Promise<Reading> {
  return withoutContent(await readWith(new DigestingParser(parseLimits), message, pieceSizes))
}

export function withoutContent(reading: Reading): Reading {
  return { ...reading, attachments: reading.attachments.map(attachment => ({ ...attachment, content: null })) }
}

/** What it finds where mailsplit looks at each line by itself, and libbase64 decodes. */
export function unaidedReadingOf(message: Buffer): Promise<Reading> {
  const parser = new BoundedParser(parseLimits)
  const { splitter } = parser as unknown as { readonly splitter: Splitter }
  Reflect.deleteProperty(splitter, '_transform')
  const { newNode } = splitter
  splitter.newNode = parent => {
    newNode.call(splitter, parent)
    decodeUnaided(splitter.node)
  }
  decodeUnaided(splitter.node)
  return readWith(parser, message, [message.length])
}

function decodeUnaided(node: SplitterNode): void {
  const { getDecoder } = node
  node.getDecoder = () => {
    const decoder = getDecoder.call(node)
    if (node.encoding === 'base64') Reflect.deleteProperty(decoder, '_transform')
    return decoder
  }
}

/** What this parser finds in a message that comes in pieces of these sizes. */
export async function readWith(
  parser: BoundedParser,
  message: Buffer,
  pieceSizes: readonly number[],
): Promise<Reading> {
  const attachments: object[] = []
  let fields: unknown
  let text: MessageText | undefined
  let reading: Promise<void> = Promise.resolve()
  const readAttachment = async (attachment: AttachmentStream) => {
    const position = attachments.push({}) - 1
    const content = await readAll(attachment.content as never)
    const { checksum, size, contentType, contentDisposition, filename, cid, partId, related } = attachment
    const facts = { checksum, size, contentType, contentDisposition, filename, cid, partId, related }
    attachments[position] = { ...facts, content: content.toString('latin1') }
    attachment.release()
  }
  parser.on('headerLines', lines => {
    fields = lines
  })
  parser.on('data', data => {
    if (data.type === 'text') text = data
    else reading = readAttachment(data)
  })
  const { promise, resolve } = Promise.withResolvers<string | null>()
  parser.once('end', () => void reading.then(() => resolve(null)))
  parser.on('error', error => resolve(error.message))
  let at = 0
  for (let i = 0; at < message.length; i++) {
    const size = pieceSizes[Math.min(i, pieceSizes.length - 1)] ?? message.length
    parser.write(message.subarray(at, at + size))
    at += size
  }
  parser.end()
  const error = await promise
  const { truncation, isRepaired } = parser
  return { error, truncation, isRepaired, fields, text: text ?? parser.textSoFar(), attachments }
}
