import type { Tenant } from '../api/tenant.ts'
import { inTransaction, isDuplicate } from '../base/database/database.ts'
import { Refusal, refuse } from '../base/refusal.ts'
import { type CheckTrigger, missesBeforeLoss } from './check.ts'
import type { DomainDeps } from './deps.ts'
import { checkRecord, type RecordCheck } from './dns/check-record.ts'
import { mxRecord, receivingIdentityRecord } from './dns/records.ts'
import { deleteRecords, selectRecords, toExpectedRecord, updateRecordCheck, upsertRecord } from './dns/table.ts'
import { appendDomainEvent } from './domain-event.ts'
import { loadReceivingView } from './domain-view.ts'
import { domainRefusals, loadDomain } from './load-domain.ts'
import { countMailboxes } from './mailboxes/table.ts'
import {
  checkOwnership,
  type OwnershipCheck,
  ownershipRefusals,
  requireOwnership,
  storeOwnership,
} from './ownership.ts'
import {
  hasVerifiedDomain,
  insertClaim,
  type ReceivingClaimRow,
  selectClaim,
  updateClaim,
} from './receiving-claim-table.ts'
import type { ReceivingJson } from './schema.ts'
import { type DomainRow, lockDomain, selectDomain } from './table.ts'

/** The refusals of {@link claimReceiving}. */
export const claimReceivingRefusals = [...domainRefusals, 'receiving_claimed', ...ownershipRefusals] as const

/**
 * Claims the receiving of a domain's mail for its organization, checks its records, and resolves to the receiving status.
 * @throws Refusal `not_found`, `brand_restricted`, `receiving_claimed`; `dns_unavailable` when there is no claim yet and
 * ownership cannot be looked up. A missing ownership record is not refused: it is reported as the next step, unless the domain
 * receives mail already, which goes on.
 */
export async function claimReceiving(deps: DomainDeps, tenant: Tenant, id: string): Promise<ReceivingJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const attempt = await attemptClaim(deps, domain)
  if (attempt.kind === 'unverified' && attempt.ownership.status === 'unknown' && !attempt.claim)
    requireOwnership(attempt.ownership)
  return receivingAfterAttempt(deps, domain, attempt)
}

/** `unverified`: the ownership record is missing or could not be looked up; an existing claim is kept. */
export type ClaimAttempt =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'unverified'; readonly ownership: OwnershipCheck; readonly claim: ReceivingClaimRow | undefined }

/**
 * Creates the claim if ownership is verified, and checks its records.
 * @throws Refusal `receiving_claimed` when another organization has the claim on this name
 */
async function attemptClaim(deps: DomainDeps, domain: DomainRow): Promise<ClaimAttempt> {
  const claim = await selectClaim(deps.db, domain.domain)
  if (claim && claim.domain_id !== domain.id) throw receivingClaimed(domain.domain)
  const ownership = await checkOwnership(deps.resolver, domain.organization_id, domain.domain)
  if (ownership.status === 'verified' && !claim) await createClaim(deps, domain)
  await storeOwnership(deps, domain, ownership)
  if (ownership.status !== 'verified') return { kind: 'unverified', ownership, claim }
  await checkClaim(deps, domain)
  return { kind: 'claimed' }
}

/** As {@link attemptClaim}, without any DNS look-up if the domain receives mail already. */
export async function claimUnlessLive(deps: DomainDeps, domain: DomainRow): Promise<ClaimAttempt> {
  const { live } = await loadReceivingView(deps, domain)
  return live ? { kind: 'claimed' } : attemptClaim(deps, domain)
}

/** The receiving status after an attempt. */
export async function receivingAfterAttempt(
  deps: DomainDeps,
  domain: DomainRow,
  attempt: ClaimAttempt,
): Promise<ReceivingJson> {
  const isUnknown = attempt.kind === 'unverified' && attempt.ownership.status === 'unknown'
  return loadReceivingView(
    deps,
    domain,
    isUnknown ? describeFailedLookup(attempt.ownership.record.name, attempt.ownership) : undefined,
  )
}

async function createClaim(deps: DomainDeps, domain: DomainRow): Promise<void> {
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
    if (first?.domain_id !== domain.id) throw receivingClaimed(domain.domain)
  }
}

function receivingClaimed(name: string): Refusal {
  return refuse('receiving_claimed', {
    message: `Another organization has claimed the receiving of mail for ${name}.`,
    resolution: 'The claim ends when that organization deletes the domain.',
  })
}

/**
 * A scheduled recheck of a domain's receiving claim. Creates the claim if the domain has mailboxes that were waiting for its
 * ownership to be verified.
 */
export async function recheckClaim(deps: DomainDeps, domain: DomainRow): Promise<void> {
  const claim = await selectClaim(deps.db, domain.domain)
  if (!claim && (await isOwnershipVerified(deps, domain)) && (await countMailboxes(deps.db, domain.id)) > 0)
    await ignoreClaimed(() => createClaim(deps, domain))
  await checkClaim(deps, domain, 'scheduled')
}

async function isOwnershipVerified({ db }: DomainDeps, domain: DomainRow): Promise<boolean> {
  return (await selectDomain(db, domain.organization_id, domain.id))?.ownership_verified === 1
}

async function ignoreClaimed(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'receiving_claimed')) throw error
  }
}

/**
 * Checks the receiving identity and MX record of a claimed domain and stores the results; without a claim it does nothing. The
 * identity becomes verified only while ownership is, and then stays so, whatever DNS shows later; a failed look-up changes
 * nothing.
 */
export async function checkClaim(
  deps: DomainDeps,
  domain: DomainRow,
  trigger: CheckTrigger = 'requested',
): Promise<void> {
  const claim = await selectClaim(deps.db, domain.domain)
  if (claim?.domain_id !== domain.id) return
  const isCoveredByParent = await hasVerifiedDomain(deps.db, domain.organization_id, parentsOf(domain.domain))
  await storeReceivingRecords(deps, domain, claim, isCoveredByParent)
  const records = (await selectRecords(deps.db, [domain.id])).filter(
    record => record.purpose === 'mx' || record.purpose === 'receiving_identity',
  )
  const checked = await Promise.all(
    records.map(async record => ({ record, check: await checkRecord(deps.resolver, toExpectedRecord(record)) })),
  )
  const identity = checked.find(({ record }) => record.purpose === 'receiving_identity')
  const mx = checked.find(({ record }) => record.purpose === 'mx')
  const at = deps.clock.now()
  await inTransaction(deps.db, async db => {
    const locked = await lockDomain(db, domain.organization_id, domain.id)
    if (!locked) return
    const isIdentityShown = isCoveredByParent || identity?.check.status === 'verified'
    for (const { record, check } of checked) await updateRecordCheck(db, record.id, check, at)
    const wasLive = isLive(await selectClaim(db, domain.domain))
    await updateClaim(db, domain.id, {
      checked_at: at,
      identity_error:
        identity?.check.status === 'unknown' ? describeFailedLookup(identity.record.name, identity.check) : null,
      ...(isIdentityShown && locked.ownership_verified === 1 && { identity_verified: 1 }),
      ...(mx && mxAfterCheck(claim, mx.check, trigger)),
    })
    if (!wasLive && isLive(await selectClaim(db, domain.domain)))
      await appendDomainEvent({ db, instance: deps.instance }, 'domain.receiving_live', locked, at)
  })
}

/** Does mail for the domain come here? */
function isLive(claim: ReceivingClaimRow | undefined): boolean {
  return claim?.identity_verified === 1 && claim.mx_verified === 1
}

/** As with sending, a scheduled check that misses a verified record does not count as a loss yet. */
function mxAfterCheck(
  before: Pick<ReceivingClaimRow, 'mx_verified' | 'mx_misses'>,
  { status }: RecordCheck,
  trigger: CheckTrigger,
): Partial<ReceivingClaimRow> {
  if (status === 'unknown') return {}
  if (status === 'verified') return { mx_verified: 1, mx_misses: 0 }
  const misses = before.mx_misses + 1
  if (trigger === 'scheduled' && before.mx_verified === 1 && misses < missesBeforeLoss) return { mx_misses: misses }
  return { mx_verified: 0, mx_misses: 0 }
}

async function storeReceivingRecords(
  deps: DomainDeps,
  domain: DomainRow,
  claim: ReceivingClaimRow,
  isCoveredByParent: boolean,
): Promise<void> {
  const { organization_id: organizationId, domain: name } = domain
  await inTransaction(deps.db, async db => {
    if (!(await lockDomain(db, organizationId, domain.id))) return
    await upsertRecord(db, domain.id, mxRecord(name, deps.instance))
    if (isCoveredByParent) await deleteRecords(db, domain.id, 'receiving_identity')
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

function describeFailedLookup(name: string, { failure }: RecordCheck): string {
  return `The look-up of ${name} failed: ${failure ?? 'DNS did not answer'}.`
}
