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

/** The parser holds up to some twenty pieces of what it is given. */
const pieceBytes = 32 * 1024

/** The bytes of a message as it came, read piece by piece as they are wanted. */
export function readStoredMessage(
  blobs: Pick<BlobStore, 'read'>,
  organizationId: Id<'org'>,
  blobId: Id<'blb'>,
): Readable {
  return Readable.from(splitChunks(blobs.read(organizationId, blobId)), { objectMode: false })
}

async function* splitChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes)
}

/** A stored message that is to be read. */
type StoredMessageRow = Pick<MessageDetailRow, 'organization_id' | 'blob_id' | 'size' | 'raw_purged_at'> &
  PurgedMessageRow

/** More may hold up the event loop for longer than some 20 ms. */
export const maxInlineBytes = 256 * 1024

/**
 * What a stored message says of itself; of one that cannot be taken apart, what its header says; of one that retention
 * removed, what is left of it.
 */
export async function readStoredSummary(
  deps: { readonly blobs: BlobStore; readonly texts: TextWorker },
  message: StoredMessageRow,
): Promise<MessageSummary> {
  const { organization_id, blob_id, size } = message
  if (message.raw_purged_at !== null) return purgedMessageSummary(message)
  if (size <= maxInlineBytes) return readMessageSummary(readStoredMessage(deps.blobs, organization_id, blob_id))
  const facts = await deps.texts.readSummary(deps.blobs.read(organization_id, blob_id))
  if (facts) return facts
  const head = deps.blobs.read(organization_id, blob_id, { end: parseLimits.maxHeaderBytes })
  return readHeaderSummary(await readAll(Readable.from(head, { objectMode: false })), 'it could not be taken apart')
}

/**
 * The decoded bytes of the attachment at `position` (0-based, in the parser's order), taken out of the message while it
 * is read: no more of it is held than what the reader has not yet taken.
 */
export function readStoredAttachment(message: Readable, position: number): ReadableStream<Uint8Array> {
  const passage = new PassThrough()
  visitAttachments(message, (content, at) => (at === position ? pipeline(content, passage) : Promise.resolve()))
    .then(() => passage.end())
    .catch((error: Error) => passage.destroy(error))
  return Readable.toWeb(passage) as ReadableStream<Uint8Array>
}
