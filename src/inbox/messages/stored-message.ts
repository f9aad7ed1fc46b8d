import { Readable } from 'node:stream'
import { type MessageSummary, readHeaderSummary, readMessageSummary } from '../../mail/message.ts'
import { parseLimits } from '../../mail/mime-parser.ts'
import { readAll } from '../../mail/streams.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { readStoredMessage } from '../../ports/blobs/read-message.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import { type PurgedMessageRow, purgedMessageSummary } from './purged-message.ts'
import type { MessageDetailRow } from './table.ts'

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
