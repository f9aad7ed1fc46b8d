import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type PartHeader, visitAttachments, visitParts } from './message.ts'

// Extracted while the message is read: only what the consumer has not read yet is in memory.

/** The decoded bytes of the attachment at `position` (0-based, in the parser's order). */
export function attachmentBytes(message: Readable, position: number): ReadableStream<Uint8Array> {
  return collected(output =>
    visitAttachments(message, (content, at) => (at === position ? pipeline(content, output) : Promise.resolve())),
  )
}

/** The decoded bytes of the first part that `isWanted` says yes to; it is asked about each part that is not multipart. */
export function partBytes(message: Readable, isWanted: (header: PartHeader) => boolean): ReadableStream<Uint8Array> {
  let isFound = false
  return collected(output =>
    visitParts(message, (content, header) => {
      if (isFound || !isWanted(header)) return Promise.resolve()
      isFound = true
      return pipeline(content, output)
    }),
  )
}

function collected(writeTo: (output: PassThrough) => Promise<unknown>): ReadableStream<Uint8Array> {
  const output = new PassThrough()
  writeTo(output)
    .then(() => output.end())
    .catch((error: Error) => output.destroy(error))
  return Readable.toWeb(output) as ReadableStream<Uint8Array>
}
