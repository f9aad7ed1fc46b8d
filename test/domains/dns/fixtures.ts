import type { Id } from '../../../src/base/ids.ts'
import type { DomainDeps } from '../../../src/domains/deps.ts'
import { toZoneRecord } from '../../../src/domains/dns/records.ts'
import { dnsRoutes } from '../../../src/domains/dns/routes.ts'
import { mailboxRoutes } from '../../../src/domains/mailboxes/routes.ts'
import { ownershipRecord } from '../../../src/domains/ownership.ts'
import { domainRoutes } from '../../../src/domains/routes.ts'
import { localZone } from '../../../src/ports/dns-zone/local/local.ts'
import type { DnsProvider, ExistingRecord, Zone } from '../../../src/ports/dns-zone/port.ts'
import { localResolver } from '../../../src/ports/resolver/local/local.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import { startDns, type TestDns } from '../../harness/dns.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { testSecrets } from '../../harness/secrets.ts'
import { hostname, newBrand } from '../fixtures.ts'

/** Something that happens once, before or after a write reaches the zone. */
export interface Interruption {
  readonly when: 'before' | 'after'
  readonly write: 'create' | 'update' | 'remove'
  readonly happens: () => Promise<unknown>
}

/** The HTTP server with the `local` DNS zone. */
export interface ZoneServer extends TestHttpServer {
  readonly brandId: Id<'brd'>
  readonly dns: TestDns
  /** The zone itself, bypassing the API. */
  readonly zone: Zone
  interrupt(interruption: Interruption): void
  /** Publishes an organization's ownership record, as the domain's owner would. */
  own(domain: string, organizationId?: Id<'org'>): Promise<void>
  /** Publishes the ownership record and registers the domain; resolves to its id. */
  register(domain: string, by?: Registrant): Promise<string>
  /** The records at and below a name, without ownership records. */
  recordsUnder(name: string): Promise<readonly ExistingRecord[]>
}

export interface Registrant {
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  readonly key: string
}

export async function openZoneServer(change: Partial<DomainDeps> = {}): Promise<ZoneServer> {
  const dns = await startDns()
  let interruption: Interruption | undefined
  let zone: Zone | null = null

  async function around<Result>(write: Interruption['write'], work: () => Promise<Result>): Promise<Result> {
    const now = interruption?.write === write ? interruption : undefined
    if (now) interruption = undefined
    if (now?.when === 'before') await now.happens()
    const result = await work()
    if (now?.when === 'after') await now.happens()
    return result
  }

  function interruptible(inner: Zone): Zone {
    return {
      ...inner,
      create: (record, mark) => around('create', () => inner.create(record, mark)),
      update: (id, record, mark, readAs) => around('update', () => inner.update(id, record, mark, readAs)),
      remove: id => around('remove', () => inner.remove(id)),
    }
  }

  const server = await openTestHttpServer({
    features: ({ database: { db }, clock }) => {
      const local = localZone(db, clock)
      const provider: DnsProvider = {
        ...local,
        findZone: async domain => {
          zone = await local.findZone(domain)
          return zone && interruptible(zone)
        },
      }
      const deps: DomainDeps = {
        db,
        clock,
        resolver: localResolver(db, networkResolver({ servers: [dns.endpoint], timeoutMs: 300 })),
        dnsProvider: provider,
        instance: { hostname, spfInclude: 'spf.relay.example' },
        secrets: testSecrets,
        ...change,
      }
      return [domainRoutes(deps, () => Promise.resolve([])), dnsRoutes(deps), mailboxRoutes(deps)]
    },
  })
  const { db } = server.database
  const local = await localZone(db, server.clock).findZone('a.test')
  if (!local) throw new Error('no local zone')
  const brandId = await newBrand(db, server.organizationId)

  const own: ZoneServer['own'] = async (domain, organizationId = server.organizationId) => {
    await local.create(toZoneRecord(ownershipRecord(organizationId, domain)), null)
  }
  return {
    ...server,
    brandId,
    dns,
    zone: local,
    interrupt: next => {
      interruption = next
    },
    own,
    register: async (domain, by = { organizationId: server.organizationId, brandId, key: server.key }) => {
      await own(domain, by.organizationId)
      const json = { brand_id: by.brandId, domain, publish_dns: false }
      const created = await server.call('POST', '/v1/domains', { json, key: by.key })
      if (created.status !== 201) throw new Error(created.text)
      return created.json.id
    },
    recordsUnder: async name =>
      (await local.recordsUnder(name)).filter(existingRecord => !existingRecord.name.startsWith('_mailroom.')),
    close: async () => {
      await server.close()
      await dns.close()
    },
  }
}

/** Another organization, with a brand and a key. */
export async function newRegistrant(server: TestHttpServer): Promise<Registrant> {
  const organizationId = await server.newOrganization()
  const { key } = await server.newKey({ organizationId })
  return { organizationId, brandId: await newBrand(server.database.db, organizationId), key }
}
