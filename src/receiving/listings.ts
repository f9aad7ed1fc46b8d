import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { findSenderListings } from '../inbox/senders/senders.ts'
import type { SenderListing } from '../inbox/senders/table.ts'
import type { IncomingMessage } from './incoming-message.ts'
import type { FilingSummary } from './parse.ts'

/** How each organization that has a recipient lists the sender; null: not at all. Most list nobody, and are not looked up. */
export async function findListings(
  db: Db,
  { recipients, mailFrom }: Pick<IncomingMessage, 'recipients' | 'mailFrom'>,
  { from }: Pick<FilingSummary, 'from'>,
): Promise<ReadonlyMap<Id<'org'>, SenderListing | null>> {
  const listings = new Map<Id<'org'>, SenderListing | null>(
    recipients.map(({ organizationId }) => [organizationId, null]),
  )
  const withListings = new Set(
    recipients.flatMap(({ hasListings, organizationId }) => (hasListings ? organizationId : [])),
  )
  if (withListings.size === 0) return listings
  const found = await findSenderListings(db, [...withListings], { from: from[0]?.address ?? '', mailFrom })
  for (const [organizationId, listing] of found) listings.set(organizationId, listing)
  return listings
}
