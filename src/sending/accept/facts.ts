import type { Plan } from '../../accounts/organizations/quota.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { type SuppressionSets, suppressionSets } from '../suppressions/suppression-sets.ts'
import type { StampedCandidate } from './candidate.ts'
import { lockDomains, selectSuppressed } from './table.ts'

/** What the acceptance checks look at, read in the accepting transaction for all candidates of a batch. */
export interface AcceptanceFacts extends SuppressionSets {
  readonly readyDomains: ReadonlySet<Id<'dom'>>
  /** The domains of brands whose sending is paused, and why. */
  readonly pausedDomains: ReadonlyMap<Id<'dom'>, string>
  readonly plans: ReadonlyMap<Id<'org'>, Plan>
  /** Candidates whose Idempotency-Key another request has taken over meanwhile. */
  readonly lostReservations: ReadonlySet<StampedCandidate>
}

/** Reads the facts. The domains stay locked, so that none is deleted before the transaction ends. */
export async function loadFacts(
  db: Db,
  candidates: readonly StampedCandidate[],
  lostReservations: ReadonlySet<StampedCandidate>,
): Promise<AcceptanceFacts> {
  const recipients = candidates.flatMap(({ domain, recipients }) =>
    recipients.map(({ email }) => ({ brandId: domain.brandId, email: email.toLowerCase() })),
  )
  const now = candidates[0]?.createdAt
  const [domains, suppressed] = await Promise.all([
    lockDomains(
      db,
      candidates.map(candidate => candidate.domain.id),
    ),
    now === undefined ? [] : selectSuppressed(db, recipients, now),
  ])
  return {
    readyDomains: new Set(domains.filter(domain => domain.status === 'verified').map(domain => domain.id)),
    pausedDomains: new Map(
      domains.flatMap(domain => (domain.pauseReason === null ? [] : [[domain.id, domain.pauseReason] as const])),
    ),
    plans: new Map(domains.map(domain => [domain.organizationId, domain.plan])),
    lostReservations,
    ...suppressionSets(suppressed),
  }
}
