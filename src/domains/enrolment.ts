import { type Db, inTransaction } from '../base/database/database.ts'
import { ZoneTrouble } from '../ports/dns-zone/port.ts'
import { ProviderTrouble } from '../ports/provider/port.ts'
import type { DomainsUse } from './deps.ts'
import { firstSelector, newPrivateKey, openedKey, sealedKey } from './dkim/keys.ts'
import { type DkimKeyRow, insertKey, keysOf } from './dkim/table.ts'
import { publish } from './dns/publish.ts'
import { dkimRecord, senderRecords } from './dns/records.ts'
import {
  type DomainRow,
  dropRecord,
  dropRecords,
  keepRecord,
  lockedDomain,
  type RecordRow,
  recordsOf,
  updateDomain,
} from './table.ts'

type ToEnrol = Pick<DomainRow, 'id' | 'domain' | 'created_at'>

/** A first key for the domain, where it has none that signs. Made outside of any transaction: it takes a while. */
export async function keyIfNone(use: DomainsUse, domain: ToEnrol): Promise<DkimKeyRow | undefined> {
  if ((await keysOf(use.db, domain.id)).some(signs)) return undefined
  const { id, created_at } = domain
  const key = { domain_id: id, selector: firstSelector(id, created_at), created_at } as const
  return sealedKey({ ...key, state: 'signing', state_since: null }, await newPrivateKey(), use.secrets)
}

/** Keeps the key and what is to be published for sending. Running it again changes nothing. */
export async function keepSender(
  db: Db,
  domain: ToEnrol,
  fresh: DkimKeyRow | undefined,
  { instance, secrets, identities }: Pick<DomainsUse, 'instance' | 'secrets' | 'identities'>,
): Promise<void> {
  // Of two that made a key at once the first one's counts.
  if (fresh && !(await keysOf(db, domain.id)).some(signs)) await insertKey(db, fresh)
  for (const key of await keysOf(db, domain.id))
    await keepRecord(db, domain.id, dkimRecord(domain.domain, key.selector, openedKey(key, secrets), signs(key)))
  if (instance.returnPath !== 'ours' && !identities) await dropRecords(db, domain.id, 'return_path')
  if (!identities) await dropProviderKeys(db, domain.id)
  for (const record of senderRecords(domain.domain, instance)) await keepRecord(db, domain.id, record)
}

function signs({ state }: DkimKeyRow): boolean {
  return state === 'signing'
}

/** Is it the record of a key that the provider signs with? Those of ours are published as they are. */
export function isProviderKey({ purpose, type }: Pick<RecordRow, 'purpose' | 'type'>): boolean {
  return purpose === 'dkim' && type === 'CNAME'
}

/** Does the provider that delivers know the domain, or need to know none? */
export function isEnrolled(
  { identities }: Pick<DomainsUse, 'identities'>,
  { enrolled_with }: Pick<DomainRow, 'enrolled_with'>,
): boolean {
  return enrolled_with === (identities?.place ?? null)
}

/** What a provider wanted published that delivers no more. */
async function dropProviderKeys(db: Db, domainId: DomainRow['id']): Promise<void> {
  for (const record of await recordsOf(db, [domainId]))
    if (isProviderKey(record)) await dropRecord(db, domainId, 'dkim', record.name)
}

/**
 * Makes the domain known to the provider where that is needed, and keeps what is to be published for it. False: it could not
 * be, and `provider_error` says why.
 */
export async function enrolAtProvider(use: DomainsUse, domain: DomainRow): Promise<boolean> {
  const { identities } = use
  if (!identities) {
    if (domain.enrolled_with !== null)
      await updateDomain(use.db, domain.id, { enrolled_with: null, provider_error: null })
    return true
  }
  try {
    const records = await identities.enrol(domain.domain)
    await inTransaction(use.db, async db => {
      if (!(await lockedDomain(db, domain.organization_id, domain.id))) return
      for (const record of records) await keepRecord(db, domain.id, record)
      await updateDomain(db, domain.id, { provider_error: null, enrolled_with: identities.place })
    })
    return true
  } catch (error) {
    if (!(error instanceof ProviderTrouble)) throw error
    const why = `The domain could not be enrolled with ${identities.name}. ${error.message}`
    await updateDomain(use.db, domain.id, { provider_error: why })
    return false
  }
}

/**
 * Makes what a registered domain lacks for sending, and brings up to date what is to be published for it. False: the
 * provider could not be told of it.
 */
export async function renewSender(use: DomainsUse, domain: DomainRow): Promise<boolean> {
  const key = await keyIfNone(use, domain)
  await inTransaction(use.db, async db => {
    if (!(await lockedDomain(db, domain.organization_id, domain.id))) return
    // Each provider has another, or none.
    if (!isEnrolled(use, domain)) await dropRecords(db, domain.id, 'return_path')
    await keepSender(db, domain, key, use)
  })
  return enrolAtProvider(use, domain)
}

/** `skipped`: there is no zone of ours that holds the domain. */
export type Publishing =
  | { readonly kind: 'done' }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly why: string }

/** Publishes all the domain's records but MX where we have a zone that holds it. Never throws for what the provider does. */
export async function publishRecords(
  use: DomainsUse,
  domain: Pick<DomainRow, 'id' | 'domain'>,
  isWanted: (record: RecordRow) => boolean = () => true,
): Promise<Publishing> {
  const { db, zone } = use
  if (zone === null) return { kind: 'skipped' }
  const records = (await recordsOf(db, [domain.id])).filter(isWanted)
  if (records.length === 0) return { kind: 'skipped' }
  try {
    const held = await zone.zoneOf(domain.domain)
    if (held === null) return { kind: 'skipped' }
    await publish(held, domain.id, records.map(toPublished))
    return { kind: 'done' }
  } catch (error) {
    if (!(error instanceof ZoneTrouble)) throw error
    return { kind: 'failed', why: `The records could not be published through ${zone.name}. ${error.message}` }
  }
}

/** What is to be published, as it is kept. */
export function toPublished(row: RecordRow) {
  const { purpose, type, name, value, priority } = row
  return { purpose, type, name, value, priority, required: row.required === 1 }
}
