import type { Tenant } from '../api/tenant.ts'
import { inTransaction, isDuplicate } from '../base/database/database.ts'
import { Refusal, refuse } from '../base/refusal.ts'
import { applyCheckResults, missesBeforeLoss } from './check.ts'
import type { DomainDeps } from './deps.ts'
import { checkRecord, type RecordCheck } from './dns/check-record.ts'
import { mxRecord, receivingIdentityRecord } from './dns/records.ts'
import { loadReceivingView } from './domain-view.ts'
import { domainRefusals, loadDomain } from './load-domain.ts'
import { countMailboxes } from './mailboxes/table.ts'
import { checkOwnership, type OwnershipCheck, ownershipRefusals, requireOwnership } from './ownership.ts'
import type { ReceivingJson } from './schema.ts'
import {
  type DomainRow,
  deleteRecords,
  hasVerifiedDomain,
  insertClaim,
  lockDomain,
  type ReceivingClaimRow,
  selectClaim,
  selectDomain,
  selectRecords,
  toExpectedRecord,
  updateClaim,
  updateRecordCheck,
  upsertRecord,
} from './table.ts'

/** The refusals of {@link claimReceiving}. */
export const claimReceivingRefusals = [...domainRefusals, 'receiving_claimed', ...ownershipRefusals] as const

/**
 * Claims the mail of a domain for its organization and finds out how far receiving has come.
 * @throws Refusal `not_found`, `brand_restricted`, `receiving_claimed`; `dns_unavailable` when there is no claim yet and
 * DNS does not say whether there may be one. An ownership record that is not there is no refusal but the next step.
 */
export async function claimReceiving(deps: DomainDeps, tenant: Tenant, id: string): Promise<ReceivingJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const attempt = await attemptClaim(deps, domain)
  if (attempt.kind === 'unproven' && attempt.proof.status === 'unknown' && !attempt.claim)
    requireOwnership(attempt.proof)
  return receivingAfterAttempt(deps, domain, attempt)
}

/** `unproven`: the ownership record is not there, or DNS does not say; a claim from before is kept. */
export type ClaimAttempt =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'unproven'; readonly proof: OwnershipCheck; readonly claim: ReceivingClaimRow | undefined }

/**
 * Claims and checks, as far as DNS lets it.
 * @throws Refusal `receiving_claimed` when another organization receives for this name.
 */
async function attemptClaim(deps: DomainDeps, domain: DomainRow): Promise<ClaimAttempt> {
  const claim = await selectClaim(deps.db, domain.domain)
  if (claim && claim.domain_id !== domain.id) throw claimed(domain.domain)
  const proof = await checkOwnership(deps.resolver, domain.organization_id, domain.domain)
  await applyCheckResults(deps, domain, proof, [])
  if (proof.status !== 'verified') return { kind: 'unproven', proof, claim }
  if (!claim) await stakeClaim(deps, domain)
  await checkClaim(deps, domain)
  return { kind: 'claimed' }
}

/** As {@link attemptClaim}, but where mail arrives already DNS is not asked again. */
export async function claimUnlessLive(deps: DomainDeps, domain: DomainRow): Promise<ClaimAttempt> {
  const { live } = await loadReceivingView(deps, domain)
  return live ? { kind: 'claimed' } : attemptClaim(deps, domain)
}

/** How far receiving has come after an attempt. */
export async function receivingAfterAttempt(
  deps: DomainDeps,
  domain: DomainRow,
  attempt: ClaimAttempt,
): Promise<ReceivingJson> {
  const isUnknown = attempt.kind === 'unproven' && attempt.proof.status === 'unknown'
  return loadReceivingView(deps, domain, isUnknown ? unfinished(attempt.proof.record.name, attempt.proof) : undefined)
}

async function stakeClaim(deps: DomainDeps, domain: DomainRow): Promise<void> {
  try {
    await inTransaction(deps.db, async db => {
      if (!(await lockDomain(db, domain.organization_id, domain.id)))
        throw refuse('not_found', { message: `There is no domain ${domain.id}.` })
      await insertClaim(db, {
        domain: domain.domain,
        organization_id: domain.organization_id,
        domain_id: domain.id,
        identity_verified: 0,
        identity_error: null,
        mx_verified: 0,
        claimed_at: deps.clock.now(),
        checked_at: null,
        mx_misses: 0,
      })
    })
  } catch (error) {
    if (!isDuplicate(error, 'PRIMARY')) throw error
    const first = await selectClaim(deps.db, domain.domain)
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
export async function recheckClaim(deps: DomainDeps, domain: DomainRow): Promise<void> {
  const claim = await selectClaim(deps.db, domain.domain)
  if (!claim && (await isOwned(deps, domain)) && (await countMailboxes(deps.db, domain.id)) > 0)
    await unlessClaimed(() => stakeClaim(deps, domain))
  await checkClaim(deps, domain, 'unasked')
}

async function isOwned({ db }: DomainDeps, domain: DomainRow): Promise<boolean> {
  return (await selectDomain(db, domain.organization_id, domain.id))?.ownership_verified === 1
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
export async function checkClaim(
  deps: DomainDeps,
  domain: DomainRow,
  how: 'asked' | 'unasked' = 'asked',
): Promise<void> {
  const claim = await selectClaim(deps.db, domain.domain)
  if (claim?.domain_id !== domain.id) return
  const isCovered = await hasVerifiedDomain(deps.db, domain.organization_id, parentsOf(domain.domain))
  await keepReceivingRecords(deps, domain, claim, isCovered)
  const records = (await selectRecords(deps.db, [domain.id])).filter(
    record => record.purpose === 'mx' || record.purpose === 'receiving_identity',
  )
  const seen = await Promise.all(
    records.map(async record => ({ record, judgement: await checkRecord(deps.resolver, toExpectedRecord(record)) })),
  )
  const identity = seen.find(each => each.record.purpose === 'receiving_identity')
  const mx = seen.find(each => each.record.purpose === 'mx')
  const at = deps.clock.now()
  await inTransaction(deps.db, async db => {
    if (!(await lockDomain(db, domain.organization_id, domain.id))) return
    for (const { record, judgement } of seen) await updateRecordCheck(db, record.id, judgement, at)
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
  before: Pick<ReceivingClaimRow, 'mx_verified' | 'mx_misses'>,
  { status }: RecordCheck,
  how: 'asked' | 'unasked',
): Partial<ReceivingClaimRow> {
  if (status === 'unknown') return {}
  if (status === 'verified') return { mx_verified: 1, mx_misses: 0 }
  const misses = before.mx_misses + 1
  if (how === 'unasked' && before.mx_verified === 1 && misses < missesBeforeLoss) return { mx_misses: misses }
  return { mx_verified: 0, mx_misses: 0 }
}

async function keepReceivingRecords(
  deps: DomainDeps,
  domain: DomainRow,
  claim: ReceivingClaimRow,
  isCovered: boolean,
): Promise<void> {
  const { organization_id: organizationId, domain: name } = domain
  await inTransaction(deps.db, async db => {
    if (!(await lockDomain(db, organizationId, domain.id))) return
    await upsertRecord(db, domain.id, mxRecord(name, deps.instance))
    if (isCovered) await deleteRecords(db, domain.id, 'receiving_identity')
    else if (claim.identity_verified === 0) {
      await upsertRecord(db, domain.id, receivingIdentityRecord(organizationId, name, deps.instance))
    }
  })
}

/** `a.b.example.com` → `b.example.com`, `example.com`. */
function parentsOf(name: string): readonly string[] {
  const labels = name.split('.')
  return labels.slice(1, -1).map((_, i) => labels.slice(i + 1).join('.'))
}

function unfinished(name: string, { failure }: RecordCheck): string {
  return `The look-up of ${name} did not finish: ${failure ?? 'DNS did not answer'}.`
}
