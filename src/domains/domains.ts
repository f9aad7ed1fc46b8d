import { brandRefusals, loadBrand } from '../accounts/brands/brands.ts'
import type { Reservation } from '../api/idempotency/reservation.ts'
import { storeResponse } from '../api/idempotency/store.ts'
import type { Tenant } from '../api/tenant.ts'
import { minuteMs, plusMs, toIso } from '../base/clock.ts'
import { inTransaction, isDuplicate } from '../base/database/database.ts'
import { type Id, newId } from '../base/ids.ts'
import { type Refusal, refuse } from '../base/refusal.ts'
import { applyCheckResults, checkResultRefusals, checkSenderRecords } from './check.ts'
import type { DomainBlockers, DomainDeps } from './deps.ts'
import { activateNextKey } from './dkim/rotation.ts'
import { publishDomainRecords } from './dns/publish.ts'
import { domainViewRefusals, loadDomainView, loadDomainViews } from './domain-view.ts'
import {
  enrolWithProvider,
  ensureSenderSetup,
  generateKeyIfMissing,
  isProviderKey,
  storeSenderSetup,
} from './enrolment.ts'
import { domainRefusals, loadDomain } from './load-domain.ts'
import { countMailboxes } from './mailboxes/table.ts'
import { checkOwnership, ownershipRefusals, parseDomain, requireOwnership } from './ownership.ts'
import { checkClaim } from './receiving-claim.ts'
import { type DomainJson, type OwnershipJson, type RemovedDomainJson, toJsonRecord } from './schema.ts'
import {
  type DomainRecordRow,
  type DomainRow,
  deleteDomain,
  insertDomain,
  lockDomain,
  selectDomainByName,
  selectDomains,
  selectRecords,
  updateDomain,
} from './table.ts'

/**
 * What proves a domain, and whether DNS shows it now; the domain need not be registered.
 * @throws Refusal `not_found`, `brand_restricted`, `invalid_request`.
 */
export async function getOwnership(
  deps: DomainDeps,
  tenant: Tenant,
  wanted: { readonly brandId: string; readonly domain: string },
): Promise<OwnershipJson> {
  const brand = await loadBrand(deps.db, tenant, wanted.brandId, 'brand_id')
  const domain = parseDomain(wanted.domain)
  const { record, status, found } = await checkOwnership(deps.resolver, tenant.organizationId, domain)
  return {
    domain,
    brand_id: brand.id,
    verified: status === 'verified',
    checked_at: toIso(deps.clock.now()),
    ownership: { record: toJsonRecord(record, status, found) },
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

/** The refusals of {@link createDomain}. */
export const createDomainRefusals = [
  ...brandRefusals,
  ...domainViewRefusals,
  'domain_taken',
  ...ownershipRefusals,
] as const

/**
 * Registers a domain under a brand once DNS shows that the organization may use it, makes its DKIM key and names the
 * records to publish. Enrolment or publishing that fails leaves `provider_error` and no more.
 * @throws Refusal `not_found`, `brand_restricted`, `invalid_request`, `domain_taken`, `ownership_not_verified`,
 * `dns_unavailable`.
 */
export async function createDomain(deps: DomainDeps, tenant: Tenant, wanted: NewDomain): Promise<DomainJson> {
  const brand = await loadBrand(deps.db, tenant, wanted.brandId, 'brand_id')
  const name = parseDomain(wanted.domain)
  const existing = await selectDomainByName(deps.db, tenant.organizationId, name)
  if (existing && (existing.id !== wanted.id || existing.brand_id !== brand.id)) throw taken(name)
  requireOwnership(await checkOwnership(deps.resolver, tenant.organizationId, name), 'domain')
  const domain = existing ?? (await register(deps, tenant.organizationId, brand.id, name, wanted.id))
  const isEnrolled = await enrolWithProvider(deps, domain)
  if (isEnrolled && wanted.publishDns) await publishAndCheck(deps, domain)
  return loadDomainView(deps, domain)
}

/** Nobody has published anything before; an absence that is seen too early is remembered by the servers that are asked. */
const firstLookMs = 2 * minuteMs

async function register(
  deps: DomainDeps,
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
    created_at: deps.clock.now(),
    misses: 0,
    enrolled_with: null,
  }
  const key = await generateKeyIfMissing(deps, domain)
  try {
    await inTransaction(deps.db, async db => {
      await insertDomain(db, domain, plusMs(domain.created_at, firstLookMs))
      await storeSenderSetup(db, domain, key, deps)
    })
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const first = await selectDomainByName(deps.db, organizationId, name)
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
async function publishAndCheck(deps: DomainDeps, domain: DomainRow): Promise<void> {
  const attempt = await publishDomainRecords(deps, domain)
  switch (attempt.kind) {
    case 'skipped':
      return
    case 'failed':
      return updateDomain(deps.db, domain.id, { provider_error: attempt.reason })
    case 'done':
      await updateDomain(deps.db, domain.id, { provider_error: null })
      return applyCheckResults(deps, domain, { status: 'verified' }, await checkSenderRecords(deps, domain))
    default:
      return attempt satisfies never
  }
}

/** The organization's domains, or those of the owner's brand, by name. */
export async function listDomains(deps: DomainDeps, tenant: Tenant): Promise<{ data: DomainJson[] }> {
  return { data: await loadDomainViews(deps, await selectDomains(deps.db, tenant.organizationId, tenant.brandId)) }
}

export async function getDomain(deps: DomainDeps, tenant: Tenant, id: string): Promise<DomainJson> {
  return loadDomainView(deps, await loadDomain(deps.db, tenant, id))
}

/** The refusals of {@link provisionDomain}. */
export const provisionDomainRefusals = [...domainRefusals, ...checkResultRefusals, ...ownershipRefusals] as const

/**
 * Takes up what an earlier attempt left undone: makes what is missing, keeps what is there, publishes where asked.
 * @throws Refusal `not_found`, `brand_restricted`, `ownership_not_verified`, `dns_unavailable`.
 */
export async function provisionDomain(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  publishDns: boolean,
): Promise<DomainJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const proof = await checkOwnership(deps.resolver, tenant.organizationId, domain.domain)
  await applyCheckResults(deps, domain, proof, [])
  requireOwnership(proof)
  const isEnrolled = await ensureSenderSetup(deps, domain)
  if (isEnrolled && publishDns) await publishAndCheck(deps, domain)
  return loadDomainView(deps, domain)
}

/** The refusals of {@link checkDomain}. */
export const checkDomainRefusals = [...domainRefusals, ...checkResultRefusals, ...ownershipRefusals] as const

/**
 * Looks at DNS now: ownership, the sender's records, and receiving where it is claimed. What was found is kept in any
 * case.
 * @throws Refusal `not_found`, `brand_restricted`, `ownership_not_verified`, `dns_unavailable` (of the ownership record;
 * other records become `unknown`).
 */
export async function checkDomain(deps: DomainDeps, tenant: Tenant, id: string): Promise<DomainJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const [proof, seen] = await Promise.all([
    checkOwnership(deps.resolver, tenant.organizationId, domain.domain),
    checkSenderRecords(deps, domain),
  ])
  await applyCheckResults(deps, domain, proof, seen)
  requireOwnership(proof)
  await checkClaim(deps, domain)
  await activateNextKey(deps, domain)
  return loadDomainView(deps, domain)
}

/** The refusals of {@link removeDomain}. */
export const removeDomainRefusals = [...domainRefusals, 'domain_in_use'] as const

/**
 * Unregisters a domain and releases its receiving claim. What is published in DNS stays there, and so does mail.
 * @throws Refusal `not_found`, `brand_restricted`, `domain_in_use`.
 */
export async function removeDomain(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  blockers: DomainBlockers,
  reservation?: Reservation,
): Promise<RemovedDomainJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const removed = removalOf(domain, await selectRecords(deps.db, [domain.id]), deps)
  await inTransaction(deps.db, async db => {
    if (!(await lockDomain(db, tenant.organizationId, domain.id)))
      throw refuse('not_found', { message: `There is no domain ${id}.` })
    const mailboxes = await countMailboxes(db, domain.id)
    const dependents = [
      ...(mailboxes > 0 ? [counted(mailboxes, 'mailbox', 'mailboxes')] : []),
      ...(await blockers(db, domain.id)),
    ]
    if (dependents.length > 0)
      throw refuse('domain_in_use', { message: `The domain ${domain.domain} still has ${dependents.join(' and ')}.` })
    await deleteDomain(db, domain.id)
    await storeResponse(db, reservation, { status: 200, body: removed, at: deps.clock.now() })
  })
  return removed
}

function removalOf(
  { id, domain }: DomainRow,
  records: readonly DomainRecordRow[],
  { identities }: Pick<DomainDeps, 'identities'>,
): RemovedDomainJson {
  const provider = identities?.name ?? 'the provider'
  const keys = records.filter(isProviderKey).map(record => record.name)
  const returnPaths = new Set(records.filter(record => record.purpose === 'return_path').map(record => record.name))
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
