import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Id } from '../../base/ids.ts'
import { type MessageSummary, readHeaderSummary, readMessageSummary, visitAttachments } from '../../mail/message.ts'
import { parseLimits } from '../../mail/mime-parser.ts'
import { readAll } from '../../mail/streams.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import { type PurgedMessageRow, purgedMessageSummary } from './purged-message.ts'
import type { MessageDetailRow } from './table.ts'

/** The parser buffers up to some twenty chunks. */
const chunkBytes = 32 * 1024

/** The bytes of a message as it came, read from the store as they are consumed. */
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

type StoredMessageRow = Pick<MessageDetailRow, 'organization_id' | 'blob_id' | 'size' | 'raw_purged_at'> &
  PurgedMessageRow

/** Larger messages are parsed on the text worker: they could block the event loop for more than some 20 ms. */
export const maxInlineBytes = 256 * 1024

/**
 * The summary of a stored message; of one that cannot be parsed, that of its header; of one whose bytes retention deleted,
 * what is left.
 */
export async function readStoredSummary(
  deps: { readonly blobs: BlobStore; readonly texts: TextWorker },
  message: StoredMessageRow,
): Promise<MessageSummary> {
  const { organization_id, blob_id, size } = message
  if (message.raw_purged_at !== null) return purgedMessageSummary(message)
  if (size <= maxInlineBytes) return readMessageSummary(readStoredMessage(deps.blobs, organization_id, blob_id))
  const summary = await deps.texts.readSummary(deps.blobs.read(organization_id, blob_id))
  if (summary) return summary
  const head = deps.blobs.read(organization_id, blob_id, { end: parseLimits.maxHeaderBytes })
  return readHeaderSummary(await readAll(Readable.from(head, { objectMode: false })), 'it could not be parsed')
}

/**
 * The decoded bytes of the attachment at `position` (0-based, in the parser's order), extracted while the message is read:
 * only what the consumer has not read yet is in memory.
 */
export function readStoredAttachment(message: Readable, position: number): ReadableStream<Uint8Array> {
  const output = new PassThrough()
  visitAttachments(message, (content, at) => (at === position ? pipeline(content, output) : Promise.resolve()))
    .then(() => output.end())
    .catch((error: Error) => output.destroy(error))
  return Readable.toWeb(output) as ReadableStream<Uint8Array>
}
