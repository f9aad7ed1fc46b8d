import type { Owner } from '../accounts/brands/brands.ts'
import { inTransaction, isDuplicate } from '../base/database/database.ts'
import { Refusal, refuse } from '../base/refusal.ts'
import { ownDomain } from './access.ts'
import { keepFindings, looksBeforeLoss } from './check.ts'
import type { DomainsUse } from './deps.ts'
import { type Judgement, look } from './dns/check-record.ts'
import { mxRecord, receivingIdentityRecord } from './dns/records.ts'
import { describeReceiving } from './domain-view.ts'
import { toPublished } from './enrolment.ts'
import { countMailboxes } from './mailboxes/table.ts'
import { type Proof, proveOwnership, requireProof } from './ownership.ts'
import type { ReceivingShape } from './schema.ts'
import {
  type ClaimRow,
  claimOn,
  type DomainRow,
  domainById,
  dropRecords,
  hasVerified,
  insertClaim,
  keepRecord,
  lockedDomain,
  recordsOf,
  storeJudgement,
  updateClaim,
} from './table.ts'

/**
 * Claims the mail of a domain for its organization and finds out how far receiving has come.
 * @throws Refusal `not_found`, `brand_restricted`, `receiving_claimed`; `dns_unavailable` when there is no claim yet and
 * DNS does not say whether there may be one. An ownership record that is not there is no refusal but the next step.
 */
export async function claimReceiving(use: DomainsUse, owner: Owner, id: string): Promise<ReceivingShape> {
  const domain = await ownDomain(use.db, owner, id)
  const attempt = await attemptClaim(use, domain)
  if (attempt.kind === 'unproven' && attempt.proof.status === 'unknown' && !attempt.claim) requireProof(attempt.proof)
  return receivingAfter(use, domain, attempt)
}

/** `unproven`: the ownership record is not there, or DNS does not say; a claim from before is kept. */
export type ClaimAttempt =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'unproven'; readonly proof: Proof; readonly claim: ClaimRow | undefined }

/**
 * Claims and checks, as far as DNS lets it.
 * @throws Refusal `receiving_claimed` when another organization receives for this name.
 */
async function attemptClaim(use: DomainsUse, domain: DomainRow): Promise<ClaimAttempt> {
  const claim = await claimOn(use.db, domain.domain)
  if (claim && claim.domain_id !== domain.id) throw claimed(domain.domain)
  const proof = await proveOwnership(use.resolver, domain.organization_id, domain.domain)
  await keepFindings(use, domain, proof, [])
  if (proof.status !== 'verified') return { kind: 'unproven', proof, claim }
  if (!claim) await stakeClaim(use, domain)
  await refreshClaim(use, domain)
  return { kind: 'claimed' }
}

/** As {@link attemptClaim}, but where mail arrives already DNS is not asked again. */
export async function attemptUnlessLive(use: DomainsUse, domain: DomainRow): Promise<ClaimAttempt> {
  const { live } = await describeReceiving(use, domain)
  return live ? { kind: 'claimed' } : attemptClaim(use, domain)
}

/** How far receiving has come after an attempt. */
export async function receivingAfter(
  use: DomainsUse,
  domain: DomainRow,
  attempt: ClaimAttempt,
): Promise<ReceivingShape> {
  const isUnknown = attempt.kind === 'unproven' && attempt.proof.status === 'unknown'
  return describeReceiving(use, domain, isUnknown ? unfinished(attempt.proof.record.name, attempt.proof) : undefined)
}

async function stakeClaim(use: DomainsUse, domain: DomainRow): Promise<void> {
  try {
    await inTransaction(use.db, async db => {
      if (!(await lockedDomain(db, domain.organization_id, domain.id)))
        throw refuse('not_found', { message: `There is no domain ${domain.id}.` })
      await insertClaim(db, {
        domain: domain.domain,
        organization_id: domain.organization_id,
        domain_id: domain.id,
        identity_verified: 0,
        identity_error: null,
        mx_verified: 0,
        claimed_at: use.clock.now(),
        checked_at: null,
        mx_misses: 0,
      })
    })
  } catch (error) {
    if (!isDuplicate(error, 'PRIMARY')) throw error
    const first = await claimOn(use.db, domain.domain)
    if (first?.domain_id !== domain.id) throw claimed(domain.domain)
  }
}

function claimed(name: string): Refusal {
  return refuse('receiving_claimed', {
    message: `Another organization receives the mail of ${name}.`,
    resolution: 'Its claim ends when it deletes the domain.',
  })
}

/**
 * Looks, without anyone asking, at how far receiving has come; and claims a domain's mail where it has mailboxes that wait
 * for its ownership to be proven.
 */
export async function followClaim(use: DomainsUse, domain: DomainRow): Promise<void> {
  const claim = await claimOn(use.db, domain.domain)
  if (!claim && (await isOwned(use, domain)) && (await countMailboxes(use.db, domain.id)) > 0)
    await unlessClaimed(() => stakeClaim(use, domain))
  await refreshClaim(use, domain, 'unasked')
}

async function isOwned({ db }: DomainsUse, domain: DomainRow): Promise<boolean> {
  return (await domainById(db, domain.organization_id, domain.id))?.ownership_verified === 1
}

async function unlessClaimed(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'receiving_claimed')) throw error
  }
}

/**
 * Looks at the receiving identity and the MX record of a domain whose mail is claimed, and keeps what was found. An
 * identity that was verified stays so, whatever DNS says later; a failed look-up changes nothing.
 */
export async function refreshClaim(
  use: DomainsUse,
  domain: DomainRow,
  how: 'asked' | 'unasked' = 'asked',
): Promise<void> {
  const claim = await claimOn(use.db, domain.domain)
  if (claim?.domain_id !== domain.id) return
  const isCovered = await hasVerified(use.db, domain.organization_id, parentsOf(domain.domain))
  await keepReceivingRecords(use, domain, claim, isCovered)
  const records = (await recordsOf(use.db, [domain.id])).filter(
    each => each.purpose === 'mx' || each.purpose === 'receiving_identity',
  )
  const seen = await Promise.all(
    records.map(async record => ({ record, judgement: await look(use.resolver, toPublished(record)) })),
  )
  const identity = seen.find(each => each.record.purpose === 'receiving_identity')
  const mx = seen.find(each => each.record.purpose === 'mx')
  const at = use.clock.now()
  await inTransaction(use.db, async db => {
    if (!(await lockedDomain(db, domain.organization_id, domain.id))) return
    for (const { record, judgement } of seen) await storeJudgement(db, record.id, judgement, at)
    await updateClaim(db, domain.id, {
      checked_at: at,
      identity_error:
        identity?.judgement.status === 'unknown' ? unfinished(identity.record.name, identity.judgement) : null,
      ...((isCovered || identity?.judgement.status === 'verified') && { identity_verified: 1 }),
      ...(mx && mxAfter(claim, mx.judgement, how)),
    })
  })
}

/** As with sending, one look that nobody asked for and that does not find the record is not believed. */
function mxAfter(
  before: Pick<ClaimRow, 'mx_verified' | 'mx_misses'>,
  { status }: Judgement,
  how: 'asked' | 'unasked',
): Partial<ClaimRow> {
  if (status === 'unknown') return {}
  if (status === 'verified') return { mx_verified: 1, mx_misses: 0 }
  const misses = before.mx_misses + 1
  if (how === 'unasked' && before.mx_verified === 1 && misses < looksBeforeLoss) return { mx_misses: misses }
  return { mx_verified: 0, mx_misses: 0 }
}

async function keepReceivingRecords(
  use: DomainsUse,
  domain: DomainRow,
  claim: ClaimRow,
  isCovered: boolean,
): Promise<void> {
  const { organization_id: organizationId, domain: name } = domain
  await inTransaction(use.db, async db => {
    if (!(await lockedDomain(db, organizationId, domain.id))) return
    await keepRecord(db, domain.id, mxRecord(name, use.instance))
    if (isCovered) await dropRecords(db, domain.id, 'receiving_identity')
    else if (claim.identity_verified === 0) {
      await keepRecord(db, domain.id, receivingIdentityRecord(organizationId, name, use.instance))
    }
  })
}

/** `a.b.example.com` → `b.example.com`, `example.com`. */
function parentsOf(name: string): readonly string[] {
  const labels = name.split('.')
  return labels.slice(1, -1).map((_, i) => labels.slice(i + 1).join('.'))
}

function unfinished(name: string, { failure }: Judgement): string {
  return `The look-up of ${name} did not finish: ${failure ?? 'DNS did not answer'}.`
}
