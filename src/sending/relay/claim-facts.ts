import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { FindSigningKeys, SigningKey } from '../../domains/dkim/keys.ts'
import { selectSuppressed } from '../accept/table.ts'
import { selectPausedBrandIds } from '../reports/pause-table.ts'
import type { ReturnPathSource } from '../reports/return-path.ts'
import { isSuppressed, type SuppressionSets, suppressionSets } from '../suppressions/suppression-sets.ts'
import type { ClaimedRecipient } from './outbox.ts'

/** What the delivery of claimed recipients needs to know besides them, read once for each claim. */
export interface ClaimFacts {
  /** The keys that sign for each domain; a domain without keys is absent. */
  readonly signingKeys: ReadonlyMap<Id<'dom'>, readonly SigningKey[]>
  /** The return-path host of each domain that has one of its own. */
  readonly returnPathHosts: ReadonlyMap<Id<'dom'>, string>
  /** Of the recipients of scheduled emails that are released now. */
  readonly suppressions: SuppressionSets
  readonly pausedBrands: ReadonlySet<Id<'brd'>>
}

export interface ClaimFactsDeps {
  readonly db: Db
  readonly signingKeys: FindSigningKeys
  /** Where bounces come back to; undefined: to the From address. */
  readonly reversePaths: ReturnPathSource | undefined
}

export async function loadClaimFacts(
  { db, signingKeys, reversePaths }: ClaimFactsDeps,
  recipients: readonly ClaimedRecipient[],
  now: Instant,
): Promise<ClaimFacts> {
  const domainIds = [...new Set(recipients.map(claimed => claimed.domainId))]
  const brandIds = [...new Set(recipients.map(claimed => claimed.brandId))]
  const released = recipients
    .filter(claimed => claimed.scheduledAt !== null && claimed.attempts === 0)
    .map(claimed => ({ brandId: claimed.brandId, email: claimed.recipient.toLowerCase() }))
  const [keys, returnPathHosts, suppressed, pausedBrands] = await Promise.all([
    signingKeys(db, domainIds),
    reversePaths?.findHosts(db, domainIds) ?? new Map(),
    released.length === 0 ? [] : selectSuppressed(db, released, now),
    selectPausedBrandIds(db, brandIds),
  ])
  return { signingKeys: keys, returnPathHosts, suppressions: suppressionSets(suppressed), pausedBrands }
}

/** Has the recipient of a scheduled email been suppressed by the time of its release? */
export function isSuppressedNow(claimed: ClaimedRecipient, { suppressions }: ClaimFacts): boolean {
  return isSuppressed(claimed, claimed.recipient, suppressions)
}

/** The reverse-path (MAIL FROM): an address that leads bounces back to this recipient, or else the From address. */
export function reversePathOf(
  claimed: ClaimedRecipient,
  { returnPathHosts }: ClaimFacts,
  reversePaths: ReturnPathSource | undefined,
): string {
  const host = returnPathHosts.get(claimed.domainId) ?? reversePaths?.ownHost
  return reversePaths && host ? reversePaths.returnPaths.addressOf(claimed, host) : claimed.fromAddress
}
