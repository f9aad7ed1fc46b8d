import { type Db, inTransaction } from '../base/database.ts'
import { firstSelector, newPrivateKey, signingKeys } from './dkim-keys.ts'
import { publish } from './publish.ts'
import { type Instance, senderRecords } from './records.ts'
import { type DomainRow, insertDkimKey, keepRecord, lockedDomain, type RecordRow, recordsOf } from './table.ts'
import type { DomainsUse } from './use.ts'

/** What a domain signs with. */
export interface SenderKey {
  readonly selector: string
  readonly privateKey: string
}

/** The key that a domain signs with: the one it has, else a fresh one. */
export async function senderKey(db: Db, domain: Pick<DomainRow, 'id' | 'created_at'>): Promise<SenderKey> {
  const [known] = (await signingKeys(db, [domain.id])).get(domain.id) ?? []
  return known ?? { selector: firstSelector(domain.id, domain.created_at), privateKey: await newPrivateKey() }
}

/** Keeps the key and what is to be published for sending. Running it again changes nothing. */
export async function keepSender(
  db: Db,
  domain: Pick<DomainRow, 'id' | 'domain' | 'created_at'>,
  fresh: SenderKey,
  instance: Instance,
): Promise<void> {
  const { selector, privateKey } = fresh
  await insertDkimKey(db, {
    domain_id: domain.id,
    selector,
    private_key: privateKey,
    created_at: domain.created_at,
  })
  // Of two that made a key at once the first one's counts.
  const [kept = fresh] = (await signingKeys(db, [domain.id])).get(domain.id) ?? []
  for (const record of senderRecords(domain.domain, kept, instance)) await keepRecord(db, domain.id, record)
}

/** Makes what a registered domain lacks for sending, and brings up to date what is to be published for it. */
export async function renewSender(use: DomainsUse, domain: DomainRow): Promise<void> {
  const key = await senderKey(use.db, domain)
  await inTransaction(use.db, async db => {
    if (await lockedDomain(db, domain.organization_id, domain.id)) await keepSender(db, domain, key, use.instance)
  })
}

/** `skipped`: there is no zone of ours that holds the domain. */
export type Publishing =
  | { readonly kind: 'done' }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly why: string }

/** Publishes all the domain's records but MX where we have a zone that holds it. Never throws for what the zone does. */
export async function publishRecords(use: DomainsUse, domain: Pick<DomainRow, 'id' | 'domain'>): Promise<Publishing> {
  const { db, zone } = use
  if (zone === null) return { kind: 'skipped' }
  const records = await recordsOf(db, [domain.id])
  try {
    const held = await zone.zoneOf(domain.domain)
    if (held === null) return { kind: 'skipped' }
    await publish(held, domain.id, records.map(toPublished))
    return { kind: 'done' }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', why: `The records could not be published through ${zone.name}: ${why.slice(0, 300)}` }
  }
}

/** What is to be published, as it is kept. */
export function toPublished(row: RecordRow) {
  const { purpose, type, name, value, priority } = row
  return { purpose, type, name, value, priority, required: row.required === 1 }
}
