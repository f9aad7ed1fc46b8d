import { type Db, inTransaction } from '../base/database/database.ts'
import { ProviderError } from '../ports/provider/port.ts'
import type { DomainDeps } from './deps.ts'
import { firstSelector, generatePrivateKey, openPrivateKey, sealDkimKey } from './dkim/keys.ts'
import { type DkimKeyRow, insertDkimKey, selectDkimKeys } from './dkim/table.ts'
import { dkimRecord, senderRecords } from './dns/records.ts'
import {
  type DomainRecordRow,
  type DomainRow,
  deleteRecord,
  deleteRecords,
  lockDomain,
  selectRecords,
  updateDomain,
  upsertRecord,
} from './table.ts'

type EnrolCandidate = Pick<DomainRow, 'id' | 'domain' | 'created_at'>

/** A first key for the domain, where it has none that signs. Made outside of any transaction: it takes a while. */
export async function generateKeyIfMissing(deps: DomainDeps, domain: EnrolCandidate): Promise<DkimKeyRow | undefined> {
  if ((await selectDkimKeys(deps.db, domain.id)).some(signs)) return undefined
  const { id, created_at } = domain
  const key = { domain_id: id, selector: firstSelector(id, created_at), created_at } as const
  return sealDkimKey({ ...key, state: 'signing', state_since: null }, await generatePrivateKey(), deps.secrets)
}

/** Keeps the key and what is to be published for sending. Running it again changes nothing. */
export async function storeSenderSetup(
  db: Db,
  domain: EnrolCandidate,
  fresh: DkimKeyRow | undefined,
  { instance, secrets, identities }: Pick<DomainDeps, 'instance' | 'secrets' | 'identities'>,
): Promise<void> {
  // Of two that made a key at once the first one's counts.
  if (fresh && !(await selectDkimKeys(db, domain.id)).some(signs)) await insertDkimKey(db, fresh)
  for (const key of await selectDkimKeys(db, domain.id))
    await upsertRecord(db, domain.id, dkimRecord(domain.domain, key.selector, openPrivateKey(key, secrets), signs(key)))
  if (instance.returnPath !== 'ours' && !identities) await deleteRecords(db, domain.id, 'return_path')
  if (!identities) await dropProviderKeys(db, domain.id)
  for (const record of senderRecords(domain.domain, instance)) await upsertRecord(db, domain.id, record)
}

function signs({ state }: DkimKeyRow): boolean {
  return state === 'signing'
}

/** Is it the record of a key that the provider signs with? Those of ours are published as they are. */
export function isProviderKey({ purpose, type }: Pick<DomainRecordRow, 'purpose' | 'type'>): boolean {
  return purpose === 'dkim' && type === 'CNAME'
}

/** Does the provider that delivers know the domain, or need to know none? */
export function isEnrolled(
  { identities }: Pick<DomainDeps, 'identities'>,
  { enrolled_with }: Pick<DomainRow, 'enrolled_with'>,
): boolean {
  return enrolled_with === (identities?.location ?? null)
}

/** What a provider wanted published that delivers no more. */
async function dropProviderKeys(db: Db, domainId: DomainRow['id']): Promise<void> {
  for (const record of await selectRecords(db, [domainId]))
    if (isProviderKey(record)) await deleteRecord(db, domainId, 'dkim', record.name)
}

/**
 * Makes the domain known to the provider where that is needed, and keeps what is to be published for it. False: it could not
 * be, and `provider_error` says why.
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
    const why = `The domain could not be enrolled with ${identities.name}. ${error.message}`
    await updateDomain(deps.db, domain.id, { provider_error: why })
    return false
  }
}

/**
 * Makes what a registered domain lacks for sending, and brings up to date what is to be published for it. False: the
 * provider could not be told of it.
 */
export async function ensureSenderSetup(deps: DomainDeps, domain: DomainRow): Promise<boolean> {
  const key = await generateKeyIfMissing(deps, domain)
  await inTransaction(deps.db, async db => {
    if (!(await lockDomain(db, domain.organization_id, domain.id))) return
    // Each provider has another, or none.
    if (!isEnrolled(deps, domain)) await deleteRecords(db, domain.id, 'return_path')
    await storeSenderSetup(db, domain, key, deps)
  })
  return enrolWithProvider(deps, domain)
}
