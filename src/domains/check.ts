import { inTransaction } from '../base/database/database.ts'
import { refuse } from '../base/refusal.ts'
import { ProviderError, type ProviderIdentities } from '../ports/provider/port.ts'
import type { DomainDeps } from './deps.ts'
import { checkRecord, type RecordCheck } from './dns/check-record.ts'
import { type DomainRecordRow, selectRecords, toExpectedRecord, updateRecordCheck } from './dns/table.ts'
import { appendDomainEvent } from './domain-event.ts'
import { isEnrolled, isProviderKey } from './enrolment.ts'
import { type DomainRow, lockDomain, updateDomain } from './table.ts'

/** A stored record and what DNS shows of it. */
interface CheckedRecord {
  readonly record: DomainRecordRow
  readonly check: RecordCheck
}

const senderPurposes: readonly string[] = ['dkim', 'spf', 'return_path', 'dmarc']

/** Checks the records that sending from the domain depends on. */
export async function checkSenderRecords(
  deps: DomainDeps,
  domain: Pick<DomainRow, 'id' | 'domain'>,
): Promise<readonly CheckedRecord[]> {
  const records = (await selectRecords(deps.db, [domain.id])).filter(record => senderPurposes.includes(record.purpose))
  const checked = await Promise.all(
    records.map(async record => ({ record, check: await checkRecord(deps.resolver, toExpectedRecord(record)) })),
  )
  return deps.identities ? requireProviderCheck(deps.identities, domain.domain, checked) : checked
}

/**
 * DKIM records of the provider's keys are verified only once the provider has seen them too: before that it accepts no mail
 * from the domain.
 */
async function requireProviderCheck(
  identities: ProviderIdentities,
  domain: string,
  checked: readonly CheckedRecord[],
): Promise<readonly CheckedRecord[]> {
  const needsProvider = ({ record, check }: CheckedRecord) => isProviderKey(record) && check.status === 'verified'
  if (!checked.some(needsProvider)) return checked
  const failedCheck = await checkAtProvider(identities, domain)
  return failedCheck
    ? checked.map(checkedRecord =>
        needsProvider(checkedRecord) ? { ...checkedRecord, check: failedCheck } : checkedRecord,
      )
    : checked
}

/** null: the provider has verified the domain's keys. */
async function checkAtProvider(identities: ProviderIdentities, domain: string): Promise<RecordCheck | null> {
  try {
    return (await identities.check(domain)) ? null : { status: 'pending', found: [] }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return { status: 'unknown', found: [], failure: `${identities.name}: ${error.message}` }
  }
}

/** `requested`: an API call asked for the check; `scheduled`: it is a periodic recheck. */
export type CheckTrigger = 'requested' | 'scheduled'

/** The refusals of {@link applyCheckResults}. */
export const checkResultRefusals = ['not_found'] as const

/**
 * Stores the results of a check of the sender's records, and the domain's status that follows. Nothing else makes a verified
 * domain lose its readiness to send, except a new provider that does not know it (recheck/provider-switch.ts). In scheduled
 * rechecks what was verified stays so until {@link missesBeforeLoss} checks in a row have missed it.
 * @throws Refusal `not_found` when the domain was deleted meanwhile.
 */
export async function applyCheckResults(
  deps: DomainDeps,
  domain: Pick<DomainRow, 'id' | 'organization_id'>,
  checked: readonly CheckedRecord[],
  trigger: CheckTrigger = 'requested',
): Promise<void> {
  const at = deps.clock.now()
  await inTransaction(deps.db, async db => {
    const before = await lockDomain(db, domain.organization_id, domain.id)
    if (!before) throw refuse('not_found', { message: `There is no domain ${domain.id}.` })
    for (const { record, check } of checked) await updateRecordCheck(db, record.id, check, at)
    const records = await selectRecords(db, [domain.id])
    const isKnownToProvider = deps.identities === undefined || isEnrolled(deps, before)
    const after = verificationAfterCheck(before, records, isKnownToProvider)
    const isMiss = trigger === 'scheduled' && isKnownToProvider && isLoss(before, after)
    const isIgnored = isMiss && before.misses + 1 < missesBeforeLoss
    await updateDomain(db, domain.id, {
      ...(isIgnored ? { misses: before.misses + 1 } : after),
      ...(checked.length > 0 && { last_checked_at: at }),
    })
    const event = isIgnored ? undefined : statusEvent(before.status, after.status)
    if (event) await appendDomainEvent({ db, instance: deps.instance }, event, before, at)
  })
}

/** What programs are told of a change of the status. */
function statusEvent(before: DomainRow['status'], after: DomainRow['status']) {
  if (after === before || after === 'pending') return undefined
  return `domain.${after}` as const
}

/** Scheduled checks that must miss a verified record, in a row, before it counts as lost: servers may disagree for a while. */
export const missesBeforeLoss = 3

type DomainVerification = Pick<DomainRow, 'status' | 'misses'>

/** `isKnownToProvider`: the domain is enrolled, or the provider needs no enrolment. */
function verificationAfterCheck(
  before: DomainVerification,
  records: readonly DomainRecordRow[],
  isKnownToProvider: boolean,
): DomainVerification {
  const statusByRecords = statusAfterCheck(before.status, records)
  // Not failed: its records are right, and it only waits for the enrolment.
  const status = !isKnownToProvider && statusByRecords === 'verified' ? 'pending' : statusByRecords
  const isUnknown = records.some(record => record.required === 1 && record.status === 'unknown')
  // A check without an answer from DNS neither adds to the misses nor resets them.
  const misses = isUnknown && status === before.status ? before.misses : 0
  return { status, misses }
}

function isLoss(before: DomainVerification, after: DomainVerification): boolean {
  return before.status === 'verified' && after.status !== 'verified'
}

/**
 * The domain's status after a check: `verified` when all required records are, `failed` when it was verified and one is
 * missing or wrong. A failed look-up changes nothing. Pure.
 */
export function statusAfterCheck(
  before: DomainRow['status'],
  records: readonly Pick<DomainRecordRow, 'purpose' | 'required' | 'status'>[],
): DomainRow['status'] {
  const required = records.filter(record => record.required === 1 && senderPurposes.includes(record.purpose))
  if (required.length === 0 || required.some(({ status }) => status === 'pending' || status === 'mismatch'))
    return statusWithoutRecords(before)
  return required.every(({ status }) => status === 'verified') ? 'verified' : before
}

/** The status when a required record is missing or wrong. */
function statusWithoutRecords(before: DomainRow['status']): DomainRow['status'] {
  return before === 'pending' ? 'pending' : 'failed'
}
