import type { Tenant } from '../../src/api/tenant.ts'
import type { Clock } from '../../src/base/clock.ts'
import { instantAt } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/database/database.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import type { DomainDeps } from '../../src/domains/deps.ts'
import { createDomain } from '../../src/domains/domains.ts'
import { ownershipRecord } from '../../src/domains/ownership.ts'
import type { DomainJson } from '../../src/domains/schema.ts'
import { networkResolver } from '../../src/ports/resolver/network/network.ts'
import { freshDatabase } from '../harness/database.ts'
import { startDns, type TestDns } from '../harness/dns.ts'
import { testSecrets } from '../harness/secrets.ts'

export const hostname = 'mx.mailroom.example'

/** An organization with a brand. */
export interface TestOrganization {
  readonly tenant: Tenant
  readonly brandId: Id<'brd'>
}

/** A database and a DNS server, with the dependencies of the domain functions on top of them. */
export interface DomainsFixture {
  readonly deps: DomainDeps
  readonly dns: TestDns
  readonly databaseUrl: string
  close(): Promise<void>
}

/** A clock that advances by a second at each call. */
export function tickingClock(): Clock {
  let now = Date.UTC(2026, 0, 31, 8) * 1000
  return {
    now: () => {
      now += 1_000_000
      return instantAt(now)
    },
  }
}

export async function openDomainsFixture(change: Partial<DomainDeps> = {}): Promise<DomainsFixture> {
  const [database, dns] = await Promise.all([freshDatabase(), startDns()])
  const deps: DomainDeps = {
    db: database.db,
    clock: tickingClock(),
    resolver: networkResolver({ servers: [dns.endpoint], timeoutMs: 300 }),
    dnsProvider: null,
    instance: { hostname, spfInclude: 'spf.relay.example' },
    secrets: testSecrets,
    ...change,
  }
  return {
    deps,
    dns,
    databaseUrl: database.url,
    close: async () => {
      await dns.close()
      await database.close()
    },
  }
}

export async function createTestOrganization(db: Db): Promise<TestOrganization> {
  const organizationId = newId('org')
  const now = tickingClock().now()
  await db
    .insertInto('organizations')
    .values({ id: organizationId, name: 'Acme', plan: 'unlimited', created_at: now })
    .execute()
  const tenant = { organizationId, brandId: null }
  return { tenant, brandId: await newBrand(db, organizationId) }
}

export async function newBrand(db: Db, organizationId: Id<'org'>): Promise<Id<'brd'>> {
  const id = newId('brd')
  const now = tickingClock().now()
  await db
    .insertInto('brands')
    .values({
      id,
      organization_id: organizationId,
      name: 'Brand',
      slug: id.slice(4),
      status: 'ready',
      created_at: now,
      updated_at: now,
    })
    .execute()
  return id
}

/** A record to publish at the test DNS server. */
export interface ToPublish {
  readonly type: string
  readonly name: string
  readonly value: string
  readonly priority: number | null
}

/** Adds records to the DNS server's zone. */
export function publishAt(dns: TestDns, ...records: readonly ToPublish[]): void {
  for (const { type, name, value, priority } of records) {
    const existing = dns.zone[name] ?? {}
    if (type === 'TXT') dns.zone[name] = { ...existing, TXT: [...(existing.TXT ?? []), value] }
    else if (type === 'CNAME') dns.zone[name] = { ...existing, CNAME: value }
    else dns.zone[name] = { ...existing, MX: [...(existing.MX ?? []), `${priority} ${value}`] }
  }
}

/** Makes every look-up of this name fail with SERVFAIL, or work again. */
export function breakName(dns: TestDns, name: string, isBroken = true): void {
  const { behaviour: _, ...existing } = dns.zone[name] ?? {}
  dns.zone[name] = isBroken ? { ...existing, behaviour: { rcode: 'SERVFAIL' } } : existing
}

export function publishOwnership({ dns }: DomainsFixture, { tenant }: TestOrganization, domain: string): void {
  publishAt(dns, ownershipRecord(tenant.organizationId, domain))
}

/** Publishes the ownership record and registers the domain. */
export async function ownedDomain(
  fixture: DomainsFixture,
  organization: TestOrganization,
  domain: string,
): Promise<DomainJson> {
  publishOwnership(fixture, organization, domain)
  return createDomain(fixture.deps, organization.tenant, { brandId: organization.brandId, domain, publishDns: true })
}

/** The code of the refusal that `work` rejects with; its result if it is not refused. */
export async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && error.name === 'Refusal' && 'code' in error) return error.code
    throw error
  }
}
