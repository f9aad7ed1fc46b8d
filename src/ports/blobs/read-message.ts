import { Readable } from 'node:stream'
import type { Id } from '../../base/ids.ts'
import type { BlobStore } from './port.ts'

/** The parser buffers up to some twenty chunks. */
const chunkBytes = 32 * 1024

/** The bytes of a stored message, for the parser: read from the store as they are consumed. */
export function readStoredMessage(
  blobs: Pick<BlobStore, 'read'>,
  organizationId: Id<'org'>,
  blobId: Id<'blb'>,
): Readable {
  return Readable.from(splitChunks(blobs.read(organizationId, blobId)), { objectMode: false })
}

async function* splitChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += chunkBytes) yield chunk.subarray(at, at + chunkBytes)
}
