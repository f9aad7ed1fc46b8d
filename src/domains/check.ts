import { inTransaction } from '../base/database.ts'
import { refuse } from '../base/refusal.ts'
import { toPublished } from './enrolment.ts'
import type { Proof } from './ownership.ts'
import { type DomainRow, lockedDomain, type RecordRow, recordsOf, storeJudgement, updateDomain } from './table.ts'
import type { DomainsUse } from './use.ts'
import { type Judgement, look } from './verification.ts'

/** What was seen of one kept record. */
interface Seen {
  readonly record: RecordRow
  readonly judgement: Judgement
}

const senderPurposes: readonly string[] = ['dkim', 'spf', 'return_path', 'dmarc']

/** Looks up what is published for sending from the domain. */
export async function lookAtSender(use: DomainsUse, domain: Pick<DomainRow, 'id'>): Promise<readonly Seen[]> {
  const records = (await recordsOf(use.db, [domain.id])).filter(each => senderPurposes.includes(each.purpose))
  return Promise.all(
    records.map(async record => ({ record, judgement: await look(use.resolver, toPublished(record)) })),
  )
}

/**
 * Keeps what was seen of the ownership record and of the sender's records, and what follows for sending.
 * @throws Refusal `not_found` when the domain was deleted meanwhile.
 */
export async function keepFindings(
  use: DomainsUse,
  domain: Pick<DomainRow, 'id' | 'organization_id'>,
  proof: Pick<Proof, 'status'>,
  seen: readonly Seen[],
): Promise<void> {
  const at = use.clock.now()
  await inTransaction(use.db, async db => {
    const before = await lockedDomain(db, domain.organization_id, domain.id)
    if (!before) throw refuse('not_found', { message: `There is no domain ${domain.id}.` })
    for (const { record, judgement } of seen) await storeJudgement(db, record.id, judgement, at)
    const owned = stillOwned(before.ownership_verified === 1, proof)
    const status = owned ? statusAfter(before.status, await recordsOf(db, [domain.id])) : 'pending'
    await updateDomain(db, domain.id, {
      status,
      ownership_verified: owned ? 1 : 0,
      ...(seen.length > 0 && { last_checked_at: at }),
    })
  })
}

/** Only DNS's word that the record is gone takes ownership away; no answer changes nothing. */
function stillOwned(before: boolean, { status }: Pick<Proof, 'status'>): boolean {
  return status === 'unknown' ? before : status === 'verified'
}

/** Verified once all required records are; a look-up that failed takes that away as little as it gives it. Pure. */
export function statusAfter(
  before: DomainRow['status'],
  records: readonly Pick<RecordRow, 'purpose' | 'required' | 'status'>[],
): DomainRow['status'] {
  const required = records.filter(each => each.required === 1 && senderPurposes.includes(each.purpose))
  if (required.length === 0 || required.some(each => each.status === 'pending' || each.status === 'mismatch'))
    return 'pending'
  return required.every(each => each.status === 'verified') ? 'verified' : before
}
