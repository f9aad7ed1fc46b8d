import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { type MessageSummary, readMessageSummary } from '../../mail/message.ts'
import { type ParseLimits, parseLimits } from '../../mail/mime-parser.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { selectContentSize } from './table.ts'

export interface StoredContentDeps {
  readonly db: Db
  readonly blobs: BlobStore
  /** Parses large messages off the event loop; absent: they are parsed on this thread, as small ones are. */
  readonly parseLargeMessage?: ParseLargeMessage
}

/** Parses a message away from the event loop; null: that took too long or failed. */
export type ParseLargeMessage = (
  chunks: AsyncIterable<Uint8Array>,
  limits: ParseLimits,
) => Promise<MessageSummary | null>

/** Sent messages are composed by Mailroom: their text and HTML, at most 2 MiB each and encoded, are read whole. */
const sentLimits = { ...parseLimits, maxTextBytes: 16 * 1024 * 1024 }

/** Larger messages may block the event loop for more than some 20 ms. */
const maxBytesOnThisThread = 256 * 1024

/** Parses the stored message of an email. @throws Refusal `unavailable` when it could not be parsed in time */
export async function parseStoredEmail(
  { db, blobs, parseLargeMessage }: StoredContentDeps,
  { organization_id, blob_id }: { readonly organization_id: Id<'org'>; readonly blob_id: Id<'blb'> },
): Promise<MessageSummary> {
  if (!parseLargeMessage || (await selectContentSize(db, organization_id, blob_id)) <= maxBytesOnThisThread)
    return readMessageSummary(await blobs.readWhole(organization_id, blob_id), sentLimits)
  const summary = await parseLargeMessage(blobs.read(organization_id, blob_id), sentLimits)
  if (summary) return summary
  throw refuse('unavailable', { message: 'The email is large and could not be parsed in time; try again later.' })
}
