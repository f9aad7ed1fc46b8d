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
export interface TestTenant {
  readonly owner: Tenant
  readonly brandId: Id<'brd'>
}

/** A database, a DNS server and what works with them. */
export interface World {
  readonly use: DomainDeps
  readonly dns: TestDns
  readonly databaseUrl: string
  close(): Promise<void>
}

/** Time that goes on by a second at each look. */
export function tickingClock(): Clock {
  let now = Date.UTC(2026, 0, 31, 8) * 1000
  return {
    now: () => {
      now += 1_000_000
      return instantAt(now)
    },
  }
}

export async function openWorld(change: Partial<DomainDeps> = {}): Promise<World> {
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
    use: deps,
    dns,
    databaseUrl: database.url,
    close: async () => {
      await dns.close()
      await database.close()
    },
  }
}

export async function newTenant(db: Db): Promise<TestTenant> {
  const organizationId = newId('org')
  const now = tickingClock().now()
  await db
    .insertInto('organizations')
    .values({ id: organizationId, name: 'Acme', plan: 'unlimited', created_at: now })
    .execute()
  const owner = { organizationId, brandId: null }
  return { owner, brandId: await newBrand(db, organizationId) }
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

/** A record as somebody publishes it. */
export interface ToPublish {
  readonly type: string
  readonly name: string
  readonly value: string
  readonly priority: number | null
}

/** Publishes records at the DNS server, beside what is there. */
export function publishAt(dns: TestDns, ...records: readonly ToPublish[]): void {
  for (const { type, name, value, priority } of records) {
    const held = dns.zone[name] ?? {}
    if (type === 'TXT') dns.zone[name] = { ...held, TXT: [...(held.TXT ?? []), value] }
    else if (type === 'CNAME') dns.zone[name] = { ...held, CNAME: value }
    else dns.zone[name] = { ...held, MX: [...(held.MX ?? []), `${priority} ${value}`] }
  }
}

/** Lets every question about this name fail, or work again. */
export function breakName(dns: TestDns, name: string, isBroken = true): void {
  const { behaviour: _, ...held } = dns.zone[name] ?? {}
  dns.zone[name] = isBroken ? { ...held, behaviour: { rcode: 'SERVFAIL' } } : held
}

export function publishOwnership({ dns }: World, { owner }: TestTenant, domain: string): void {
  publishAt(dns, ownershipRecord(owner.organizationId, domain))
}

/** A domain whose ownership is published. */
export async function ownedDomain(world: World, tenant: TestTenant, domain: string): Promise<DomainJson> {
  publishOwnership(world, tenant, domain)
  return createDomain(world.use, tenant.owner, { brandId: tenant.brandId, domain, publishDns: true })
}

/** The code of the refusal that `work` ends with; what it gives, where it is not refused. */
export async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && error.name === 'Refusal' && 'code' in error) return error.code
    throw error
  }
}
