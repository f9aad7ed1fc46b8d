import { brandOf, type Owner } from '../accounts/brands/brands.ts'
import type { Reservation } from '../api/idempotency/reservation.ts'
import { storeAnswer } from '../api/idempotency/store.ts'
import { plusMs, toIso } from '../base/clock.ts'
import { inTransaction, isDuplicate } from '../base/database/database.ts'
import { type Id, newId } from '../base/ids.ts'
import { type Refusal, refuse } from '../base/refusal.ts'
import { ownDomain } from './access.ts'
import { keepFindings, lookAtSender } from './check.ts'
import type { DomainBlockers, DomainsUse } from './deps.ts'
import { switchToNext } from './dkim/rotation.ts'
import { describeDomain, describeDomains } from './domain-view.ts'
import { enrolAtProvider, isProviderKey, keepSender, keyIfNone, publishRecords, renewSender } from './enrolment.ts'
import { countMailboxes } from './mailboxes/table.ts'
import { proveOwnership, readDomain, requireProof } from './ownership.ts'
import { refreshClaim } from './receiving.ts'
import { type DomainShape, type OwnershipShape, type RemovedDomain, recordShape } from './schema.ts'
import {
  type DomainRow,
  deleteDomain,
  domainByName,
  domainsOf,
  insertDomain,
  lockedDomain,
  type RecordRow,
  recordsOf,
  updateDomain,
} from './table.ts'

/**
 * What proves a domain, and whether DNS shows it now; the domain need not be registered.
 * @throws Refusal `not_found`, `brand_restricted`, `invalid_request`.
 */
export async function readOwnership(
  use: DomainsUse,
  owner: Owner,
  wanted: { readonly brandId: string; readonly domain: string },
): Promise<OwnershipShape> {
  const brand = await brandOf(use.db, owner, wanted.brandId, 'brand_id')
  const domain = readDomain(wanted.domain)
  const { record, status, found } = await proveOwnership(use.resolver, owner.organizationId, domain)
  return {
    domain,
    brand_id: brand.id,
    verified: status === 'verified',
    checked_at: toIso(use.clock.now()),
    ownership: { record: recordShape(record, status, found) },
  }
}

export interface NewDomain {
  readonly brandId: string
  readonly domain: string
  /** Publish its records where a zone of ours holds it. */
  readonly publishDns: boolean
  /** The id to give it, by which a request that comes again takes up what an earlier one left; else a fresh one. */
  readonly id?: Id<'dom'>
}

/**
 * Registers a domain under a brand once DNS shows that the organization may use it, makes its DKIM key and names the
 * records to publish. Enrolment or publishing that fails leaves `provider_error` and no more.
 * @throws Refusal `not_found`, `brand_restricted`, `invalid_request`, `domain_taken`, `ownership_not_verified`,
 * `dns_unavailable`.
 */
export async function createDomain(use: DomainsUse, owner: Owner, wanted: NewDomain): Promise<DomainShape> {
  const brand = await brandOf(use.db, owner, wanted.brandId, 'brand_id')
  const name = readDomain(wanted.domain)
  const existing = await domainByName(use.db, owner.organizationId, name)
  if (existing && (existing.id !== wanted.id || existing.brand_id !== brand.id)) throw taken(name)
  requireProof(await proveOwnership(use.resolver, owner.organizationId, name), 'domain')
  const domain = existing ?? (await register(use, owner.organizationId, brand.id, name, wanted.id))
  const isEnrolled = await enrolAtProvider(use, domain)
  if (isEnrolled && wanted.publishDns) await publishAndCheck(use, domain)
  return describeDomain(use, domain)
}

/** Nobody has published anything before; an absence that is seen too early is remembered by the servers that are asked. */
const firstLookMs = 2 * 60_000

async function register(
  use: DomainsUse,
  organizationId: Id<'org'>,
  brandId: Id<'brd'>,
  name: string,
  id: Id<'dom'> = newId('dom'),
): Promise<DomainRow> {
  const domain: DomainRow = {
    id,
    organization_id: organizationId,
    brand_id: brandId,
    domain: name,
    status: 'pending',
    ownership_verified: 1,
    provider_error: null,
    last_checked_at: null,
    created_at: use.clock.now(),
    misses: 0,
    enrolled_with: null,
  }
  const key = await keyIfNone(use, domain)
  try {
    await inTransaction(use.db, async db => {
      await insertDomain(db, domain, plusMs(domain.created_at, firstLookMs))
      await keepSender(db, domain, key, use)
    })
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const first = await domainByName(use.db, organizationId, name)
    if (first?.id !== id || first.brand_id !== brandId) throw taken(name)
    return first
  }
  return domain
}

function taken(name: string): Refusal {
  return refuse('domain_taken', {
    message: `The domain ${name} is registered in this organization already.`,
    param: 'domain',
  })
}

/** What was published is looked at at once; what others are still to publish is not, so that no absence is cached. */
async function publishAndCheck(use: DomainsUse, domain: DomainRow): Promise<void> {
  const publishing = await publishRecords(use, domain)
  switch (publishing.kind) {
    case 'skipped':
      return
    case 'failed':
      return updateDomain(use.db, domain.id, { provider_error: publishing.why })
    case 'done':
      await updateDomain(use.db, domain.id, { provider_error: null })
      return keepFindings(use, domain, { status: 'verified' }, await lookAtSender(use, domain))
    default:
      return publishing satisfies never
  }
}

/** The organization's domains, or those of the owner's brand, by name. */
export async function listDomains(use: DomainsUse, owner: Owner): Promise<{ data: DomainShape[] }> {
  return { data: await describeDomains(use, await domainsOf(use.db, owner.organizationId, owner.brandId)) }
}

export async function readDomainDetails(use: DomainsUse, owner: Owner, id: string): Promise<DomainShape> {
  return describeDomain(use, await ownDomain(use.db, owner, id))
}

/**
 * Takes up what an earlier attempt left undone: makes what is missing, keeps what is there, publishes where asked.
 * @throws Refusal `not_found`, `brand_restricted`, `ownership_not_verified`, `dns_unavailable`.
 */
export async function provisionDomain(
  use: DomainsUse,
  owner: Owner,
  id: string,
  publishDns: boolean,
): Promise<DomainShape> {
  const domain = await ownDomain(use.db, owner, id)
  const proof = await proveOwnership(use.resolver, owner.organizationId, domain.domain)
  await keepFindings(use, domain, proof, [])
  requireProof(proof)
  const isEnrolled = await renewSender(use, domain)
  if (isEnrolled && publishDns) await publishAndCheck(use, domain)
  return describeDomain(use, domain)
}

/**
 * Looks at DNS now: ownership, the sender's records, and receiving where it is claimed. What was found is kept in any
 * case.
 * @throws Refusal `not_found`, `brand_restricted`, `ownership_not_verified`, `dns_unavailable` (of the ownership record;
 * other records become `unknown`).
 */
export async function checkDomain(use: DomainsUse, owner: Owner, id: string): Promise<DomainShape> {
  const domain = await ownDomain(use.db, owner, id)
  const [proof, seen] = await Promise.all([
    proveOwnership(use.resolver, owner.organizationId, domain.domain),
    lookAtSender(use, domain),
  ])
  await keepFindings(use, domain, proof, seen)
  requireProof(proof)
  await refreshClaim(use, domain)
  await switchToNext(use, domain)
  return describeDomain(use, domain)
}

/**
 * Unregisters a domain and releases its receiving claim. What is published in DNS stays there, and so does mail.
 * @throws Refusal `not_found`, `brand_restricted`, `domain_in_use`.
 */
export async function removeDomain(
  use: DomainsUse,
  owner: Owner,
  id: string,
  blockers: DomainBlockers,
  reservation?: Reservation,
): Promise<RemovedDomain> {
  const domain = await ownDomain(use.db, owner, id)
  const removed = removalOf(domain, await recordsOf(use.db, [domain.id]), use)
  await inTransaction(use.db, async db => {
    if (!(await lockedDomain(db, owner.organizationId, domain.id)))
      throw refuse('not_found', { message: `There is no domain ${id}.` })
    const mailboxes = await countMailboxes(db, domain.id)
    const dependents = [
      ...(mailboxes > 0 ? [counted(mailboxes, 'mailbox', 'mailboxes')] : []),
      ...(await blockers(db, domain.id)),
    ]
    if (dependents.length > 0)
      throw refuse('domain_in_use', { message: `The domain ${domain.domain} still has ${dependents.join(' and ')}.` })
    await deleteDomain(db, domain.id)
    await storeAnswer(db, reservation, { status: 200, body: removed, at: use.clock.now() })
  })
  return removed
}

function removalOf(
  { id, domain }: DomainRow,
  records: readonly RecordRow[],
  { identities }: Pick<DomainsUse, 'identities'>,
): RemovedDomain {
  const provider = identities?.name ?? 'the provider'
  const keys = records.filter(isProviderKey).map(each => each.name)
  const returnPaths = new Set(records.filter(each => each.purpose === 'return_path').map(each => each.name))
  const others = [...returnPaths].map(name => `, those of ${name}`)
  return {
    id,
    domain,
    deleted: true,
    provider_identity_removed: false,
    dns_records_removed: false,
    warning: [
      `The DNS records of ${domain} stay published: remove its MX record so that no mail for it is sent here, and its _mailroom, _mailroom-in, _domainkey and SPF records${others.join('')} when it is used no more.`,
      ...(keys.length > 0
        ? [`So do the keys of ${provider}, where the domain stays known: the CNAME records ${keys.join(', ')}.`]
        : []),
    ].join(' '),
  }
}

function counted(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`
}
