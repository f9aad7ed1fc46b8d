import { inTransaction } from '../base/database/database.ts'
import { refuse } from '../base/refusal.ts'
import { ProviderError, type ProviderIdentities } from '../ports/provider/port.ts'
import type { DomainDeps } from './deps.ts'
import { checkRecord, type RecordCheck } from './dns/check-record.ts'
import { isEnrolled, isProviderKey } from './enrolment.ts'
import type { OwnershipCheck } from './ownership.ts'
import {
  type DomainRecordRow,
  type DomainRow,
  lockDomain,
  selectRecords,
  toExpectedRecord,
  updateDomain,
  updateRecordCheck,
} from './table.ts'

/** What was seen of one kept record. */
interface CheckedRecord {
  readonly record: DomainRecordRow
  readonly judgement: RecordCheck
}

const senderPurposes: readonly string[] = ['dkim', 'spf', 'return_path', 'dmarc']

/** Looks up what is published for sending from the domain. */
export async function checkSenderRecords(
  deps: DomainDeps,
  domain: Pick<DomainRow, 'id' | 'domain'>,
): Promise<readonly CheckedRecord[]> {
  const records = (await selectRecords(deps.db, [domain.id])).filter(record => senderPurposes.includes(record.purpose))
  const seen = await Promise.all(
    records.map(async record => ({ record, judgement: await checkRecord(deps.resolver, toExpectedRecord(record)) })),
  )
  return deps.identities ? confirmed(deps.identities, domain.domain, seen) : seen
}

/** The keys of the provider count once it has seen their records too: before that it takes no mail of the domain. */
async function confirmed(
  identities: ProviderIdentities,
  domain: string,
  seen: readonly CheckedRecord[],
): Promise<readonly CheckedRecord[]> {
  const isToConfirm = ({ record, judgement }: CheckedRecord) => isProviderKey(record) && judgement.status === 'verified'
  if (!seen.some(isToConfirm)) return seen
  const doubt = await doubtOf(identities, domain)
  return doubt
    ? seen.map(checkedRecord => (isToConfirm(checkedRecord) ? { ...checkedRecord, judgement: doubt } : checkedRecord))
    : seen
}

async function doubtOf(identities: ProviderIdentities, domain: string): Promise<RecordCheck | null> {
  try {
    return (await identities.check(domain)) ? null : { status: 'pending', found: [] }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return { status: 'unknown', found: [], failure: `${identities.name}: ${error.message}` }
  }
}

/** The refusals of {@link applyCheckResults}. */
export const checkResultRefusals = ['not_found'] as const

/**
 * Keeps what was seen of the ownership record and of the sender's records, and what follows for sending. Where nobody
 * asked, what was verified stays so until {@link missesBeforeLoss} looks have not found it.
 * @throws Refusal `not_found` when the domain was deleted meanwhile.
 */
export async function applyCheckResults(
  deps: DomainDeps,
  domain: Pick<DomainRow, 'id' | 'organization_id'>,
  proof: Pick<OwnershipCheck, 'status'>,
  seen: readonly CheckedRecord[],
  how: 'asked' | 'unasked' = 'asked',
): Promise<void> {
  const at = deps.clock.now()
  await inTransaction(deps.db, async db => {
    const before = await lockDomain(db, domain.organization_id, domain.id)
    if (!before) throw refuse('not_found', { message: `There is no domain ${domain.id}.` })
    for (const { record, judgement } of seen) await updateRecordCheck(db, record.id, judgement, at)
    const records = await selectRecords(db, [domain.id])
    const isKnown = deps.identities === undefined || isEnrolled(deps, before)
    const after = findingsAfter(before, proof, records, isKnown)
    const isDoubtful = how === 'unasked' && isKnown && isLoss(before, after)
    const isTooEarly = isDoubtful && before.misses + 1 < missesBeforeLoss
    await updateDomain(db, domain.id, {
      ...(isTooEarly ? { misses: before.misses + 1 } : after),
      ...(seen.length > 0 && { last_checked_at: at }),
    })
  })
}

/** DNS servers that do not agree, or a zone that is being written anew, may look for a moment as if a record were gone. */
export const missesBeforeLoss = 3

type DomainVerification = Pick<DomainRow, 'status' | 'ownership_verified' | 'misses'>

/** `isKnown`: where the provider knows domains, it knows this one. */
function findingsAfter(
  before: DomainVerification,
  proof: Pick<OwnershipCheck, 'status'>,
  records: readonly DomainRecordRow[],
  isKnown: boolean,
): DomainVerification {
  const owned = stillOwned(before.ownership_verified === 1, proof)
  const found = owned ? statusAfterCheck(before.status, records) : statusWithout(before.status)
  // Nothing of it has failed: it waits for the provider.
  const status = !isKnown && found === 'verified' ? 'pending' : found
  const isUnknown =
    proof.status === 'unknown' || records.some(record => record.required === 1 && record.status === 'unknown')
  // A look that got no answer neither counts nor ends the count.
  const misses = isUnknown && status === before.status ? before.misses : 0
  return { status, ownership_verified: owned ? 1 : 0, misses }
}

function isLoss(before: DomainVerification, after: DomainVerification): boolean {
  const isDisowned = before.ownership_verified === 1 && after.ownership_verified === 0
  return isDisowned || (before.status === 'verified' && after.status !== 'verified')
}

/** Only DNS's word that the record is gone takes ownership away; no answer changes nothing. */
function stillOwned(before: boolean, { status }: Pick<OwnershipCheck, 'status'>): boolean {
  return status === 'unknown' ? before : status === 'verified'
}

/**
 * Verified once all required records are; a look-up that failed takes that away as little as it gives it. What was verified
 * and is gone has failed. Pure.
 */
export function statusAfterCheck(
  before: DomainRow['status'],
  records: readonly Pick<DomainRecordRow, 'purpose' | 'required' | 'status'>[],
): DomainRow['status'] {
  const required = records.filter(record => record.required === 1 && senderPurposes.includes(record.purpose))
  if (required.length === 0 || required.some(pick => pick.status === 'pending' || pick.status === 'mismatch'))
    return statusWithout(before)
  return required.every(pick => pick.status === 'verified') ? 'verified' : before
}

/** Without what is required: failed where it was there. */
function statusWithout(before: DomainRow['status']): DomainRow['status'] {
  return before === 'pending' ? 'pending' : 'failed'
}
