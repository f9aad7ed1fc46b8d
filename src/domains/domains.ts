import { brandIdRefusals, resolveBrandId } from '../accounts/brands/brands.ts'
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
import { type DomainRecordRow, selectRecords } from './dns/table.ts'
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
import { checkOwnership, ownershipRefusals, parseDomain, proveOwnership, requireOwnership } from './ownership.ts'
import { checkClaim } from './receiving-claim.ts'
import { type DomainJson, type OwnershipJson, type RemovedDomainJson, toJsonRecord } from './schema.ts'
import {
  type DomainRow,
  deleteDomain,
  insertDomain,
  lockDomain,
  selectDomainByName,
  selectDomains,
  updateDomain,
} from './table.ts'

/**
 * The TXT record that proves ownership of a domain, and whether DNS shows it now. The domain need not be registered.
 * @throws Refusal `brand_required`, `not_found`, `brand_restricted`, `invalid_request`.
 */
export async function getOwnership(
  deps: DomainDeps,
  tenant: Tenant,
  query: { readonly brandId: string | undefined; readonly domain: string },
): Promise<OwnershipJson> {
  const domain = parseDomain(query.domain)
  const brandId = await resolveBrandId(deps.db, tenant, query.brandId)
  const { record, status, found } = await checkOwnership(deps.resolver, tenant.organizationId, domain)
  return {
    domain,
    brand_id: brandId,
    verified: status === 'verified',
    checked_at: toIso(deps.clock.now()),
    ownership: { record: toJsonRecord(record, status, found) },
  }
}

/** The refusals of {@link getOwnership}. */
export const getOwnershipRefusals = brandIdRefusals

export interface NewDomain {
  /** undefined: the brand that the tenant is restricted to. */
  readonly brandId: string | undefined
  readonly domain: string
  /** Publish its records if the DNS provider has a zone that holds it. */
  readonly publishDns: boolean
  /** The id to give it, so that a repeated request finds the domain that an earlier one created; absent: a new id. */
  readonly id?: Id<'dom'>
}

/** The refusals of {@link createDomain}. */
export const createDomainRefusals = [
  ...brandIdRefusals,
  ...domainViewRefusals,
  'domain_taken',
  ...ownershipRefusals,
] as const

/**
 * Registers a domain under a brand whose organization's ownership record is in DNS, generates its DKIM key and stores the
 * records to publish. A failed enrolment or publication only sets `provider_error`.
 * @throws Refusal `brand_required`, `not_found`, `brand_restricted`, `invalid_request`, `domain_taken`,
 * `ownership_not_verified`, `dns_unavailable`.
 */
export async function createDomain(deps: DomainDeps, tenant: Tenant, request: NewDomain): Promise<DomainJson> {
  const name = parseDomain(request.domain)
  const brandId = await resolveBrandId(deps.db, tenant, request.brandId)
  const existing = await selectDomainByName(deps.db, tenant.organizationId, name)
  if (existing && (existing.id !== request.id || existing.brand_id !== brandId)) throw domainTaken(name)
  requireOwnership(await checkOwnership(deps.resolver, tenant.organizationId, name), 'domain')
  const domain = existing ?? (await register(deps, tenant.organizationId, brandId, name, request.id))
  const isEnrolled = await enrolWithProvider(deps, domain)
  if (isEnrolled && request.publishDns) await publishAndCheck(deps, domain)
  return loadDomainView(deps, domain)
}

/** Delay of the first recheck. An earlier one would find nothing published, and resolvers would cache that answer. */
const firstCheckMs = 2 * minuteMs

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
      await insertDomain(db, domain, plusMs(domain.created_at, firstCheckMs))
      await storeSenderSetup(db, domain, key, deps)
    })
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const first = await selectDomainByName(deps.db, organizationId, name)
    if (first?.id !== id || first.brand_id !== brandId) throw domainTaken(name)
    return first
  }
  return domain
}

function domainTaken(name: string): Refusal {
  return refuse('domain_taken', {
    message: `The domain ${name} is already registered in this organization.`,
    param: 'domain',
  })
}

/** Checks at once only if it published the records itself: otherwise resolvers would cache that they do not exist yet. */
async function publishAndCheck(deps: DomainDeps, domain: DomainRow): Promise<void> {
  const attempt = await publishDomainRecords(deps, domain)
  switch (attempt.kind) {
    case 'skipped':
      return
    case 'failed':
      return updateDomain(deps.db, domain.id, { provider_error: attempt.reason })
    case 'done':
      await updateDomain(deps.db, domain.id, { provider_error: null })
      return applyCheckResults(deps, domain, await checkSenderRecords(deps, domain))
    default:
      return attempt satisfies never
  }
}

/** The tenant's domains, by name. */
export async function listDomains(deps: DomainDeps, tenant: Tenant): Promise<{ data: DomainJson[] }> {
  return { data: await loadDomainViews(deps, await selectDomains(deps.db, tenant.organizationId, tenant.brandId)) }
}

export async function getDomain(deps: DomainDeps, tenant: Tenant, id: string): Promise<DomainJson> {
  return loadDomainView(deps, await loadDomain(deps.db, tenant, id))
}

/** The refusals of {@link provisionDomain}. */
export const provisionDomainRefusals = [...domainRefusals, ...checkResultRefusals, ...ownershipRefusals] as const

/**
 * Retries the enrolment and sets up what is missing for sending; publishes the records if asked to.
 * @throws Refusal `not_found`, `brand_restricted`, `ownership_not_verified`, `dns_unavailable`.
 */
export async function provisionDomain(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  publishDns: boolean,
): Promise<DomainJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  await proveOwnership(deps, domain)
  const isEnrolled = await ensureSenderSetup(deps, domain)
  if (isEnrolled && publishDns) await publishAndCheck(deps, domain)
  return loadDomainView(deps, domain)
}

/** The refusals of {@link checkDomain}. */
export const checkDomainRefusals = [...domainRefusals, ...checkResultRefusals, ...ownershipRefusals] as const

/**
 * Checks DNS now: ownership, the sender's records, and the receiving claim if there is one. A refusal changes nothing.
 * @throws Refusal `not_found`, `brand_restricted`, `ownership_not_verified`, `dns_unavailable` (of the ownership record;
 * other records become `unknown`).
 */
export async function checkDomain(deps: DomainDeps, tenant: Tenant, id: string): Promise<DomainJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const [, checked] = await Promise.all([proveOwnership(deps, domain), checkSenderRecords(deps, domain)])
  await applyCheckResults(deps, domain, checked)
  await checkClaim(deps, domain)
  await activateNextKey(deps, domain)
  return loadDomainView(deps, domain)
}

/** The refusals of {@link removeDomain}. */
export const removeDomainRefusals = [...domainRefusals, 'domain_in_use'] as const

/**
 * Deletes a domain and its receiving claim. Its DNS records stay published and its mail stays stored.
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
  const removed = toJsonRemoval(domain, await selectRecords(deps.db, [domain.id]), deps)
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
    await storeResponse(db, reservation, { status: 200, body: removed })
  })
  return removed
}

function toJsonRemoval(
  { id, domain }: DomainRow,
  records: readonly DomainRecordRow[],
  { identities }: Pick<DomainDeps, 'identities'>,
): RemovedDomainJson {
  const provider = identities?.name ?? 'the provider'
  const keys = records.filter(isProviderKey).map(record => record.name)
  const returnPaths = new Set(records.filter(record => record.purpose === 'return_path').map(record => record.name))
  const returnPathRecords = [...returnPaths].map(name => `, those of ${name}`)
  return {
    id,
    domain,
    deleted: true,
    provider_identity_removed: false,
    dns_records_removed: false,
    warning: [
      `The DNS records of ${domain} stay published. Remove its MX record so that no mail for it is sent here, and its _mailroom, _mailroom-in, _domainkey and SPF records${returnPathRecords.join('')} once you no longer need them.`,
      ...(keys.length > 0
        ? [
            `The domain also stays enrolled with ${provider}, whose DKIM records remain: the CNAME records ${keys.join(', ')}.`,
          ]
        : []),
    ].join(' '),
  }
}

function counted(count: number, singular: string, plural: string): string {
  return `${count} ${count === 1 ? singular : plural}`
}
