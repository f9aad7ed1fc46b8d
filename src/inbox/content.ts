import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Id } from '../base/ids.ts'
import { visitAttachments } from '../mail/message.ts'
import type { Blobs } from '../ports/blobs/port.ts'

/** The parser holds up to some twenty pieces of what it is given. */
const pieceBytes = 32 * 1024

/** The bytes of a message as it came, read piece by piece as they are wanted. */
export function storedMessage(blobs: Pick<Blobs, 'read'>, organizationId: Id<'org'>, blobId: Id<'blb'>): Readable {
  return Readable.from(inPieces(blobs.read(organizationId, blobId)), { objectMode: false })
}

async function* inPieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes)
}

/**
 * The decoded bytes of the attachment at `position` (0-based, in the parser's order), taken out of the message while it
 * is read: no more of it is held than what the reader has not yet taken.
 */
export function storedAttachment(message: Readable, position: number): ReadableStream<Uint8Array> {
  const passage = new PassThrough()
  visitAttachments(message, (content, at) => (at === position ? pipeline(content, passage) : Promise.resolve()))
    .then(() => passage.end())
    .catch((error: Error) => passage.destroy(error))
  return Readable.toWeb(passage) as ReadableStream<Uint8Array>
}
