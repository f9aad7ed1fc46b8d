import { type Db, inTransaction } from '../base/database/database.ts'
import { ProviderError } from '../ports/provider/port.ts'
import type { DomainDeps } from './deps.ts'
import { firstSelector, generatePrivateKey, openPrivateKey, sealDkimKey } from './dkim/keys.ts'
import { type DkimKeyRow, insertDkimKey, selectDkimKeys } from './dkim/table.ts'
import { dkimRecord, senderRecords } from './dns/records.ts'
import { type DomainRecordRow, deleteRecord, deleteRecords, selectRecords, upsertRecord } from './dns/table.ts'
import { type DomainRow, lockDomain, updateDomain } from './table.ts'

type EnrolCandidate = Pick<DomainRow, 'id' | 'domain' | 'created_at'>

/** A new DKIM key if the domain has none that signs. Generated outside of any transaction, because it takes a while. */
export async function generateKeyIfMissing(deps: DomainDeps, domain: EnrolCandidate): Promise<DkimKeyRow | undefined> {
  if ((await selectDkimKeys(deps.db, domain.id)).some(signs)) return undefined
  const { id, created_at } = domain
  const key = { domain_id: id, selector: firstSelector(id, created_at), created_at } as const
  return sealDkimKey({ ...key, state: 'signing', state_since: null }, await generatePrivateKey(), deps.secrets)
}

/** Stores a new DKIM key and the records that sending depends on. Repeating it changes nothing. */
export async function storeSenderSetup(
  db: Db,
  domain: EnrolCandidate,
  newKey: DkimKeyRow | undefined,
  { instance, secrets, identities }: Pick<DomainDeps, 'instance' | 'secrets' | 'identities'>,
): Promise<void> {
  // Of two processes that generate a key at once, the first to store it wins.
  if (newKey && !(await selectDkimKeys(db, domain.id)).some(signs)) await insertDkimKey(db, newKey)
  for (const key of await selectDkimKeys(db, domain.id))
    await upsertRecord(db, domain.id, dkimRecord(domain.domain, key.selector, openPrivateKey(key, secrets), signs(key)))
  if (instance.returnPath !== 'ours' && !identities) await deleteRecords(db, domain.id, 'return_path')
  if (!identities) await deleteProviderKeys(db, domain.id)
  for (const record of senderRecords(domain.domain, instance)) await upsertRecord(db, domain.id, record)
}

function signs({ state }: DkimKeyRow): boolean {
  return state === 'signing'
}

/** Is it the CNAME record of a DKIM key of the provider? Mailroom's own keys are TXT records. */
export function isProviderKey({ purpose, type }: Pick<DomainRecordRow, 'purpose' | 'type'>): boolean {
  return purpose === 'dkim' && type === 'CNAME'
}

/** Is the domain enrolled with the current provider, or does that provider need no enrolment? */
export function isEnrolled(
  { identities }: Pick<DomainDeps, 'identities'>,
  { enrolled_with }: Pick<DomainRow, 'enrolled_with'>,
): boolean {
  return enrolled_with === (identities?.location ?? null)
}

/** Deletes the DKIM records of a former provider. */
async function deleteProviderKeys(db: Db, domainId: DomainRow['id']): Promise<void> {
  for (const record of await selectRecords(db, [domainId]))
    if (isProviderKey(record)) await deleteRecord(db, domainId, 'dkim', record.name)
}

/**
 * Enrols the domain with the provider if that needs it, and stores the records that the provider asks for. False when it
 * failed; `provider_error` has the reason.
 */
export async function enrolWithProvider(deps: DomainDeps, domain: DomainRow): Promise<boolean> {
  const { identities } = deps
  if (!identities) {
    if (domain.enrolled_with !== null)
      await updateDomain(deps.db, domain.id, { enrolled_with: null, provider_error: null })
    return true
  }
  try {
    const records = await identities.enrol(domain.domain)
    await inTransaction(deps.db, async db => {
      if (!(await lockDomain(db, domain.organization_id, domain.id))) return
      for (const record of records) await upsertRecord(db, domain.id, record)
      await updateDomain(db, domain.id, { provider_error: null, enrolled_with: identities.location })
    })
    return true
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const reason = `The domain could not be enrolled with ${identities.name}. ${error.message}`
    await updateDomain(deps.db, domain.id, { provider_error: reason })
    return false
  }
}

/**
 * Creates what a registered domain lacks for sending, updates the records to publish, and enrols it with the provider. False
 * when the enrolment failed.
 */
export async function ensureSenderSetup(deps: DomainDeps, domain: DomainRow): Promise<boolean> {
  const key = await generateKeyIfMissing(deps, domain)
  await inTransaction(deps.db, async db => {
    if (!(await lockDomain(db, domain.organization_id, domain.id))) return
    // It depends on the provider, and the new one may have none.
    if (!isEnrolled(deps, domain)) await deleteRecords(db, domain.id, 'return_path')
    await storeSenderSetup(db, domain, key, deps)
  })
  return enrolWithProvider(deps, domain)
}
