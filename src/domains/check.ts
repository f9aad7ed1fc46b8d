import { inTransaction } from '../base/database/database.ts'
import { refuse } from '../base/refusal.ts'
import { type ProviderIdentities, ProviderTrouble } from '../ports/provider/port.ts'
import type { DomainsUse } from './deps.ts'
import { type Judgement, look } from './dns/check-record.ts'
import { isEnrolled, isProviderKey, toPublished } from './enrolment.ts'
import type { Proof } from './ownership.ts'
import { type DomainRow, lockedDomain, type RecordRow, recordsOf, storeJudgement, updateDomain } from './table.ts'

/** What was seen of one kept record. */
interface Seen {
  readonly record: RecordRow
  readonly judgement: Judgement
}

const senderPurposes: readonly string[] = ['dkim', 'spf', 'return_path', 'dmarc']

/** Looks up what is published for sending from the domain. */
export async function lookAtSender(
  use: DomainsUse,
  domain: Pick<DomainRow, 'id' | 'domain'>,
): Promise<readonly Seen[]> {
  const records = (await recordsOf(use.db, [domain.id])).filter(each => senderPurposes.includes(each.purpose))
  const seen = await Promise.all(
    records.map(async record => ({ record, judgement: await look(use.resolver, toPublished(record)) })),
  )
  return use.identities ? confirmed(use.identities, domain.domain, seen) : seen
}

/** The keys of the provider count once it has seen their records too: before that it takes no mail of the domain. */
async function confirmed(
  identities: ProviderIdentities,
  domain: string,
  seen: readonly Seen[],
): Promise<readonly Seen[]> {
  const isToConfirm = ({ record, judgement }: Seen) => isProviderKey(record) && judgement.status === 'verified'
  if (!seen.some(isToConfirm)) return seen
  const doubt = await doubtOf(identities, domain)
  return doubt ? seen.map(each => (isToConfirm(each) ? { ...each, judgement: doubt } : each)) : seen
}

async function doubtOf(identities: ProviderIdentities, domain: string): Promise<Judgement | null> {
  try {
    return (await identities.check(domain)) ? null : { status: 'pending', found: [] }
  } catch (error) {
    if (!(error instanceof ProviderTrouble)) throw error
    return { status: 'unknown', found: [], failure: `${identities.name}: ${error.message}` }
  }
}

/**
 * Keeps what was seen of the ownership record and of the sender's records, and what follows for sending. Where nobody
 * asked, what was verified stays so until {@link looksBeforeLoss} looks have not found it.
 * @throws Refusal `not_found` when the domain was deleted meanwhile.
 */
export async function keepFindings(
  use: DomainsUse,
  domain: Pick<DomainRow, 'id' | 'organization_id'>,
  proof: Pick<Proof, 'status'>,
  seen: readonly Seen[],
  how: 'asked' | 'unasked' = 'asked',
): Promise<void> {
  const at = use.clock.now()
  await inTransaction(use.db, async db => {
    const before = await lockedDomain(db, domain.organization_id, domain.id)
    if (!before) throw refuse('not_found', { message: `There is no domain ${domain.id}.` })
    for (const { record, judgement } of seen) await storeJudgement(db, record.id, judgement, at)
    const records = await recordsOf(db, [domain.id])
    const isKnown = use.identities === undefined || isEnrolled(use, before)
    const after = findingsAfter(before, proof, records, isKnown)
    const isDoubtful = how === 'unasked' && isKnown && isLoss(before, after)
    const isTooEarly = isDoubtful && before.misses + 1 < looksBeforeLoss
    await updateDomain(db, domain.id, {
      ...(isTooEarly ? { misses: before.misses + 1 } : after),
      ...(seen.length > 0 && { last_checked_at: at }),
    })
  })
}

/** DNS servers that do not agree, or a zone that is being written anew, may look for a moment as if a record were gone. */
export const looksBeforeLoss = 3

type Findings = Pick<DomainRow, 'status' | 'ownership_verified' | 'misses'>

/** `isKnown`: where the provider knows domains, it knows this one. */
function findingsAfter(
  before: Findings,
  proof: Pick<Proof, 'status'>,
  records: readonly RecordRow[],
  isKnown: boolean,
): Findings {
  const owned = stillOwned(before.ownership_verified === 1, proof)
  const found = owned ? statusAfter(before.status, records) : statusWithout(before.status)
  // Nothing of it has failed: it waits for the provider.
  const status = !isKnown && found === 'verified' ? 'pending' : found
  const isUnknown = proof.status === 'unknown' || records.some(each => each.required === 1 && each.status === 'unknown')
  // A look that got no answer neither counts nor ends the count.
  const misses = isUnknown && status === before.status ? before.misses : 0
  return { status, ownership_verified: owned ? 1 : 0, misses }
}

function isLoss(before: Findings, after: Findings): boolean {
  const isDisowned = before.ownership_verified === 1 && after.ownership_verified === 0
  return isDisowned || (before.status === 'verified' && after.status !== 'verified')
}

/** Only DNS's word that the record is gone takes ownership away; no answer changes nothing. */
function stillOwned(before: boolean, { status }: Pick<Proof, 'status'>): boolean {
  return status === 'unknown' ? before : status === 'verified'
}

/**
 * Verified once all required records are; a look-up that failed takes that away as little as it gives it. What was verified
 * and is gone has failed. Pure.
 */
export function statusAfter(
  before: DomainRow['status'],
  records: readonly Pick<RecordRow, 'purpose' | 'required' | 'status'>[],
): DomainRow['status'] {
  const required = records.filter(each => each.required === 1 && senderPurposes.includes(each.purpose))
  if (required.length === 0 || required.some(each => each.status === 'pending' || each.status === 'mismatch'))
    return statusWithout(before)
  return required.every(each => each.status === 'verified') ? 'verified' : before
}

/** Without what is required: failed where it was there. */
function statusWithout(before: DomainRow['status']): DomainRow['status'] {
  return before === 'pending' ? 'pending' : 'failed'
}
