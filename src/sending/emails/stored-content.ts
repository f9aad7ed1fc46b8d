import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { type MessageSummary, readMessageSummary } from '../../mail/message.ts'
import { type ParseLimits, parseLimits } from '../../mail/mime-parser.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { selectContentSize } from './table.ts'

/** Takes a message apart away from the event loop; null where that took too long or failed. */
export type ParseLargeMessage = (
  pieces: AsyncIterable<Uint8Array>,
  limits: ParseLimits,
) => Promise<MessageSummary | null>

/** Ours to compose: text and HTML of 2 MiB each, encoded, are read whole. */
const ownLimits = { ...parseLimits, maxTextBytes: 16 * 1024 * 1024 }

/** More may hold up the event loop for longer than some 20 ms. */
const maxLightBytes = 256 * 1024

/** What the message of an email says, with its texts. @throws Refusal `unavailable` when it could not be taken apart in time */
export async function parseStoredEmail(
  {
    db,
    blobs,
    outlineLarge,
  }: { readonly db: Db; readonly blobs: BlobStore; readonly outlineLarge?: ParseLargeMessage },
  { organization_id, blob_id }: { readonly organization_id: Id<'org'>; readonly blob_id: Id<'blb'> },
): Promise<MessageSummary> {
  if (!outlineLarge || (await selectContentSize(db, organization_id, blob_id)) <= maxLightBytes)
    return readMessageSummary(await blobs.readWhole(organization_id, blob_id), ownLimits)
  const facts = await outlineLarge(blobs.read(organization_id, blob_id), ownLimits)
  if (facts) return facts
  throw refuse('unavailable', { message: 'The email is large, and could not be taken apart in time. Try again later.' })
}
