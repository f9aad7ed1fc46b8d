import { countAccepted, grantQuota, monthOf, type QuotaRequest } from '../../accounts/organizations/quota.ts'
import { reservationLost } from '../../api/idempotency/store.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Refusal, refuse } from '../../base/refusal.ts'
import { isSuppressed } from '../suppressions/suppression-sets.ts'
import type { QuotaStatus, StampedCandidate } from './candidate.ts'
import type { AcceptanceFacts } from './facts.ts'
import type { AuthorizedSender } from './sender.ts'
import type { SendingDomain } from './table.ts'

/**
 * All acceptance checks, in the order in which they are applied; a send is refused by the first that it fails.
 *
 * | Stage | When | On what |
 * |---|---|---|
 * | `from` | before the message is composed | From's domain as it was looked up |
 * | `facts` | in the accepting transaction | each send, on facts read for its whole batch |
 * | `claim` | in the accepting transaction | the sends of the batch that are left: claims drafts and quota for them (countSends counts it) |
 */
const acceptanceChecks = [
  { stage: 'from', check: requireRegisteredDomain },
  { stage: 'from', check: requireBrandOfKey },
  { stage: 'facts', check: requireReservation },
  { stage: 'facts', check: requireReadyDomain },
  { stage: 'facts', check: requireUnpausedBrand },
  { stage: 'facts', check: requireUnsuppressedRecipient },
  { stage: 'claim', check: claimSingleUseItems },
  { stage: 'claim', check: claimQuota },
] as const satisfies readonly AcceptanceCheck[]

/** What a send can be refused with by these checks. */
export const acceptanceRefusals = [
  'domain_not_verified',
  'from_not_allowed',
  'recipient_suppressed',
  'quota_exceeded',
] as const

/** One check; undefined: the send passes it. Checks of the stage `claim` give one result for each send, in their order. */
type AcceptanceCheck =
  | { readonly stage: 'from'; readonly check: (from: ResolvedFrom) => CheckResult }
  | { readonly stage: 'facts'; readonly check: (send: StampedCandidate, facts: AcceptanceFacts) => CheckResult }
  | {
      readonly stage: 'claim'
      readonly check: (
        db: Db,
        sends: readonly StampedCandidate[],
        facts: AcceptanceFacts,
      ) => Promise<readonly CheckResult[]>
    }

type CheckResult = Refusal | undefined

/** From's domain, and who wants to send from it. */
export interface ResolvedFrom {
  readonly domainName: string
  /** undefined: the organization has no such domain. */
  readonly domain: SendingDomain | undefined
  readonly sender: AuthorizedSender
}

/** The refusal by the checks that need nothing but From and the sender. */
export function checkFrom(from: ResolvedFrom): CheckResult {
  for (const { stage, check } of acceptanceChecks) {
    const refusal = stage === 'from' ? check(from) : undefined
    if (refusal) return refusal
  }
  return undefined
}

/** The refusals by all other checks, of those sends that are refused. In the accepting transaction. */
export async function checkSends(
  db: Db,
  sends: readonly StampedCandidate[],
  facts: AcceptanceFacts,
): Promise<ReadonlyMap<StampedCandidate, Refusal>> {
  const refusals = new Map<StampedCandidate, Refusal>()
  for (const { stage, check } of acceptanceChecks) {
    if (stage === 'from') continue
    const left = sends.filter(send => !refusals.has(send))
    const results = stage === 'facts' ? left.map(send => check(send, facts)) : await check(db, left, facts)
    left.forEach((send, i) => {
      const refusal = results[i]
      if (refusal) refusals.set(send, refusal)
    })
  }
  return refusals
}

function requireRegisteredDomain({ domainName, domain }: ResolvedFrom): CheckResult {
  if (domain) return undefined
  return refuse('domain_not_verified', {
    message: `from: ${domainName} is not a registered domain; register it and publish its records first.`,
    param: 'from',
  })
}

/** The scope of From: a key that is restricted to one brand sends from that brand's domains only. */
function requireBrandOfKey({ domainName, domain, sender }: ResolvedFrom): CheckResult {
  if (sender.brandId === null || sender.brandId === domain?.brandId) return undefined
  return refuse('from_not_allowed', {
    message: `from: ${domainName} belongs to another brand than the one this API key is restricted to.`,
    param: 'from',
  })
}

/** Another request may have taken over the Idempotency-Key, when this one took too long. */
function requireReservation(send: StampedCandidate, { lostReservations }: AcceptanceFacts): CheckResult {
  return lostReservations.has(send) ? reservationLost() : undefined
}

function requireReadyDomain({ domain }: StampedCandidate, { readyDomains }: AcceptanceFacts): CheckResult {
  if (readyDomains.has(domain.id)) return undefined
  return refuse('domain_not_verified', {
    message: `from: ${domain.domain} is not verified; publish its DNS records and check it.`,
    param: 'from',
  })
}

function requireUnpausedBrand({ domain }: StampedCandidate, { pausedDomains }: AcceptanceFacts): CheckResult {
  const reason = pausedDomains.get(domain.id)
  if (reason === undefined) return undefined
  return refuse('from_not_allowed', {
    message: `from: sending of the brand that ${domain.domain} belongs to is paused.`,
    param: 'from',
    reason,
    resolution: 'Fix what causes the bounces or complaints, then have the operator resume the brand.',
  })
}

/** Refuses only when no recipient is left; otherwise suppressed recipients are listed as such and not sent to. */
function requireUnsuppressedRecipient(
  { domain, email, recipients }: StampedCandidate,
  facts: AcceptanceFacts,
): CheckResult {
  const scope = { brandId: domain.brandId, unsubscribe: email.unsubscribe }
  const [first] = recipients
  if (!first || !recipients.every(recipient => isSuppressed(scope, recipient.email, facts))) return undefined
  const others = recipients.length - 1
  return refuse('recipient_suppressed', {
    message: `to: ${first.email}${others > 0 ? ` and ${others} more` : ''}: on the suppression list of the brand, and no recipient is left.`,
    param: 'to',
  })
}

/** Locks the drafts that are sent; of several sends of the same draft the first gets it. */
async function claimSingleUseItems(db: Db, sends: readonly StampedCandidate[]): Promise<readonly CheckResult[]> {
  const locked = new Set<string>()
  const refusals = new Map<StampedCandidate, Refusal>()
  // In one order, so that two transactions never wait for each other.
  const wanting = sends.flatMap(send => (send.consumes ? [{ send, item: send.consumes }] : []))
  for (const { send, item } of wanting.sort((a, b) => (a.item.id < b.item.id ? -1 : 1))) {
    if (!locked.has(item.id) && (await item.lock(db))) locked.add(item.id)
    else refusals.set(send, item.refuse())
  }
  return sends.map(send => refusals.get(send))
}

async function claimQuota(
  db: Db,
  sends: readonly StampedCandidate[],
  facts: AcceptanceFacts,
): Promise<readonly CheckResult[]> {
  const granted = new Set<StampedCandidate>()
  for (const { at, sendsOfMonth, requests } of byMonth(sends, facts)) {
    const results = await grantQuota(db, requests, at)
    for (const [i, send] of sendsOfMonth.entries()) if (results[i]) granted.add(send)
  }
  return sends.map(send => (granted.has(send) ? undefined : quotaExceeded(send.quotaStatus)))
}

/** Counts sends that passed all checks against the quotas, in the accepting transaction and as late in it as possible. */
export async function countSends(
  db: Db,
  sends: readonly StampedCandidate[],
  facts: Pick<AcceptanceFacts, 'plans'>,
): Promise<void> {
  await Promise.all(byMonth(sends, facts).map(({ requests, at }) => countAccepted(db, requests, at)))
}

interface SendsOfMonth {
  readonly at: Instant
  readonly sendsOfMonth: readonly StampedCandidate[]
  /** One for each of the sends. */
  readonly requests: readonly QuotaRequest[]
}

/** The sends by the month of their acceptance; only around midnight may a batch have two. */
function byMonth(
  sends: readonly StampedCandidate[],
  { plans }: Pick<AcceptanceFacts, 'plans'>,
): readonly SendsOfMonth[] {
  return [...Map.groupBy(sends, send => monthOf(send.createdAt)).values()].flatMap(sendsOfMonth => {
    const at = sendsOfMonth[0]?.createdAt
    if (at === undefined) return []
    const requests = sendsOfMonth.map(({ sender: { organizationId } }) => ({
      organizationId,
      plan: plans.get(organizationId) ?? 'free',
      count: 1,
    }))
    return [{ at, sendsOfMonth, requests }]
  })
}

function quotaExceeded(status: QuotaStatus): Refusal {
  return refuse('quota_exceeded', {
    ...(status === 422 ? { status } : {}),
    message: 'The plan includes no more emails this calendar month (UTC).',
    resolution: 'Upgrade the plan, or wait for the next month.',
  })
}
