import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Id } from '../../../src/base/ids.ts'
import type { DomainDeps } from '../../../src/domains/deps.ts'
import { dkimRecordValue, toZoneRecord } from '../../../src/domains/dns/records.ts'
import { createDomain, getDomain, listDomains, provisionDomain } from '../../../src/domains/domains.ts'
import { createRecord } from '../../../src/domains/managed-records/managed-records.ts'
import { ownershipRecord } from '../../../src/domains/ownership.ts'
import { claimReceiving } from '../../../src/domains/receiving-claim.ts'
import { localZone } from '../../../src/ports/dns-zone/local/local.ts'
import { type DnsProvider, DnsZoneError, type Zone, type ZoneRecord } from '../../../src/ports/dns-zone/port.ts'
import { localResolver } from '../../../src/ports/resolver/local/local.ts'
import { signingKeys } from '../../harness/secrets.ts'
import {
  createTestOrganization,
  type DomainsFixture,
  openDomainsFixture,
  publishAt,
  refusalOf,
  type TestOrganization,
  tickingClock,
} from '../fixtures.ts'

let fixture: DomainsFixture
let organization: TestOrganization
let provider: DnsProvider
let zone: Zone
let deps: DomainDeps

beforeAll(async () => {
  fixture = await openDomainsFixture()
  organization = await createTestOrganization(fixture.deps.db)
  provider = localZone(fixture.deps.db, tickingClock())
  const held = await provider.findZone('a.test')
  if (!held) throw new Error('no zone')
  zone = held
  deps = { ...fixture.deps, dnsProvider: provider, resolver: localResolver(fixture.deps.db, fixture.deps.resolver) }
})
afterAll(() => fixture.close())

const create = (domain: string, publishDns = true, with_: DomainDeps = deps) =>
  createDomain(with_, organization.tenant, { brandId: organization.brandId, domain, publishDns })
const add = (record: ZoneRecord) => zone.create(record, null)
const own = (domain: string) => add(toZoneRecord(ownershipRecord(organization.tenant.organizationId, domain)))
const list = async (name: string, type: ZoneRecord['type']) =>
  (await zone.recordsAt(name)).filter(existingRecord => existingRecord.type === type)
const txt = (name: string, value: string): ZoneRecord => ({ type: 'TXT', name, value, priority: null, ttlSeconds: 300 })

test('a domain below .test is ready to send as soon as it is created', async () => {
  await own('demo.test')
  expect(await create('demo.test')).toMatchObject({ ready_to_send: true, status: 'verified' })
})

test('it receives mail once its two receiving records exist', async () => {
  await own('live.test')
  const { id } = await create('live.test')
  const { identity, mx } = await claimReceiving(deps, organization.tenant, id)
  expect(await list('live.test', 'MX')).toEqual([])
  for (const record of [...identity.dns_records, mx.record]) await add({ ...record, ttlSeconds: record.ttl })
  expect(await claimReceiving(deps, organization.tenant, id)).toMatchObject({ live: true })
})

test('provisioning publishes the receiving identity, and never the MX record', async () => {
  await own('moving.test')
  const { id } = await create('moving.test')
  await claimReceiving(deps, organization.tenant, id)
  await provisionDomain(deps, organization.tenant, id, true)
  expect(await list('_mailroom-in.moving.test', 'CNAME')).toHaveLength(1)
  expect(await list('moving.test', 'MX')).toEqual([])
  expect(await claimReceiving(deps, organization.tenant, id)).toMatchObject({ next_step: 'mx' })
})

test('several concurrent provisionings that replace a lost key agree on one', async () => {
  await own('lost.test')
  const { id } = await create('lost.test', false)
  const domainId = id as Id<'dom'>
  await fixture.deps.db.deleteFrom('dkim_keys').where('domain_id', '=', domainId).execute()
  await fixture.deps.db.deleteFrom('domain_records').where('domain_id', '=', domainId).execute()
  await Promise.all([1, 2, 3].map(() => provisionDomain(deps, organization.tenant, id, false)))
  const [key, ...more] = (await signingKeys(fixture.deps.db, [domainId])).get(domainId) ?? []
  expect(more).toEqual([])
  const { dns_records } = await getDomain(deps, organization.tenant, id)
  expect(dns_records[0]?.value).toBe(dkimRecordValue(key?.privateKey ?? ''))
})

test('nothing is published until it is requested', async () => {
  await own('later.test')
  const created = await create('later.test', false)
  expect(created).toMatchObject({ ready_to_send: false, last_checked_at: null })
  expect(await list('later.test', 'TXT')).toEqual([])
  expect(await provisionDomain(deps, organization.tenant, created.id, false)).toMatchObject({ ready_to_send: false })
  const provisioned = await provisionDomain(deps, organization.tenant, created.id, true)
  expect(provisioned).toMatchObject({ ready_to_send: true })
  expect(provisioned.dns_records.map(record => record.value)).toEqual(created.dns_records.map(record => record.value))
})

test('records of a domain outside of the zone are left to its owner', async () => {
  publishAt(fixture.dns, ownershipRecord(organization.tenant.organizationId, 'outside.example'))
  const created = await create('outside.example')
  expect(created).toMatchObject({ ready_to_send: false })
  expect(created).not.toHaveProperty('provider_error')
})

test('publishing twice, or twice at once, publishes once', async () => {
  await own('twice.test')
  const { id } = await create('twice.test')
  await Promise.all([1, 2, 3].map(() => provisionDomain(deps, organization.tenant, id, true)))
  expect(await list('twice.test', 'TXT')).toHaveLength(1)
  expect(await list('_dmarc.twice.test', 'TXT')).toHaveLength(1)
})

test("someone else's record is neither overwritten nor duplicated", async () => {
  await own('theirs.test')
  await add(txt('theirs.test', 'v=spf1 -all'))
  await add(txt('theirs.test', 'site-verification=1'))
  await add(txt('_dmarc.theirs.test', 'v=DMARC1; p=reject'))
  const created = await create('theirs.test')
  expect(created.ready_to_send).toBe(false)
  expect(created.dns_records).toMatchObject([
    { purpose: 'dkim', status: 'verified' },
    { purpose: 'spf', status: 'mismatch', found: ['v=spf1 -all'] },
    { purpose: 'dmarc', status: 'verified', found: ['v=DMARC1; p=reject'] },
  ])
  expect(await list('theirs.test', 'TXT')).toHaveLength(2)
})

test('a record whose value changes is pending again', async () => {
  await own('changed.test')
  const { id } = await create('changed.test')
  const moved = { ...deps, instance: { ...deps.instance, spfInclude: 'spf.other.example' } }
  expect((await provisionDomain(moved, organization.tenant, id, false)).dns_records).toMatchObject([
    { purpose: 'dkim', status: 'verified' },
    { purpose: 'spf', status: 'pending', value: 'v=spf1 include:spf.other.example ~all' },
    { purpose: 'dmarc', status: 'verified' },
  ])
})

test('a CNAME is refused at the apex of a zone', async () => {
  await own('top.test')
  const { id } = await create('top.test', false)
  const top: DnsProvider = { ...provider, name: 'top', findZone: () => Promise.resolve({ ...zone, apex: 'top.test' }) }
  const alias = { type: 'CNAME', name: '@', value: 'host.example', ttl: 300, priority: null } as const
  expect(await refusalOf(createRecord({ ...deps, dnsProvider: top }, organization.tenant, id, alias))).toBe(
    'dns_record_conflict',
  )
  expect(await zone.recordsAt('top.test')).toEqual([])
  expect(await createRecord(deps, organization.tenant, id, alias)).toMatchObject({ name: 'top.test' })
})

describe('a zone that fails', () => {
  const failing: DnsProvider = {
    name: 'failing',
    findZone: () => Promise.resolve({ ...zone, create: () => Promise.reject(new DnsZoneError('the zone is locked')) }),
    checkHealth: () => Promise.resolve('the zone is locked'),
  }

  test('sets provider_error, which a later success clears', async () => {
    await own('unlucky.test')
    const created = await create('unlucky.test', true, { ...deps, dnsProvider: failing })
    expect(created).toMatchObject({ ready_to_send: false, ownership_verified: true })
    expect(created.provider_error).toContain('the zone is locked')
    const { data } = await listDomains(deps, organization.tenant)
    expect(data.find(item => item.id === created.id)).toHaveProperty('provider_error')
    const mended = await provisionDomain(deps, organization.tenant, created.id, true)
    expect(mended).not.toHaveProperty('provider_error')
    expect(mended.ready_to_send).toBe(true)
  })
})

describe('the local zone', () => {
  test('contains names below .test', async () => {
    expect(await provider.findZone('a.b.TEST')).toMatchObject({ apex: 'test' })
    expect(await provider.findZone('a.example')).toBeNull()
    expect(await provider.findZone('atest')).toBeNull()
    expect(await refusalOf(add(txt('a.example', 'x')).catch(error => (error as Error).message))).toContain('.test')
  })

  test('returns what was added, by name and type, once', async () => {
    const record = txt('Name.Zone.test.', 'a'.repeat(400))
    await Promise.all([add(record), add(record)])
    await add(txt('name.zone.test', 'b'))
    await add({ type: 'MX', name: 'name.zone.test', value: 'mx.test', priority: 10, ttlSeconds: 60 })
    expect(await list('name.zone.test', 'TXT')).toMatchObject([
      { ...record, name: 'name.zone.test' },
      txt('name.zone.test', 'b'),
    ])
    expect(await list('NAME.zone.test', 'MX')).toMatchObject([{ value: 'mx.test', priority: 10, ttlSeconds: 60 }])
    expect(await list('zone.test', 'TXT')).toEqual([])
  })
})
