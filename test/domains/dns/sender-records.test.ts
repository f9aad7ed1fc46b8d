import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Id } from '../../../src/base/ids.ts'
import type { DomainDeps } from '../../../src/domains/deps.ts'
import { publishDns } from '../../../src/domains/dns/publish.ts'
import { toZoneRecord } from '../../../src/domains/dns/records.ts'
import { checkDomain, createDomain, provisionDomain } from '../../../src/domains/domains.ts'
import { ownershipRecord } from '../../../src/domains/ownership.ts'
import { selectVerifiedReturnPaths } from '../../../src/domains/return-path-table.ts'
import type { DomainJson } from '../../../src/domains/schema.ts'
import { localZone } from '../../../src/ports/dns-zone/local/local.ts'
import { localResolver } from '../../../src/ports/resolver/local/local.ts'
import {
  breakName,
  createTestOrganization,
  type DomainsFixture,
  hostname,
  openDomainsFixture,
  ownedDomain,
  publishAt,
  type TestOrganization,
  tickingClock,
} from '../fixtures.ts'

let fixture: DomainsFixture
let organization: TestOrganization
let ours: DomainDeps

beforeAll(async () => {
  fixture = await openDomainsFixture()
  organization = await createTestOrganization(fixture.deps.db)
  ours = { ...fixture.deps, instance: { ...fixture.deps.instance, returnPath: 'ours' } }
})
afterAll(() => fixture.close())

const spfAt = (name: string, ...values: string[]) =>
  publishAt(fixture.dns, ...values.map(value => ({ type: 'TXT', name, value, priority: null })))
const spfOf = ({ dns_records }: DomainJson) => dns_records.find(record => record.purpose === 'spf')

/** The check of a domain's SPF record when DNS has these records. */
async function checkSpf(name: string, ...values: string[]) {
  const domain = await ownedDomain(fixture, organization, name)
  publishAt(fixture.dns, ...domain.dns_records.filter(record => record.purpose !== 'spf'))
  spfAt(name, ...values)
  const checked = await checkDomain(fixture.deps, organization.tenant, domain.id)
  return { ...spfOf(checked), ready: checked.ready_to_send }
}

describe('SPF', () => {
  const relay = 'include:spf.relay.example'

  test.each([
    ['is wrong', ['v=spf1 mx -all'], { status: 'mismatch', detail: expect.stringContaining(relay), ready: false }],
    [
      'covers ours only by what it includes',
      ['v=spf1 include:nested.example -all'],
      { status: 'verified', ready: true },
    ],
  ])('that %s: the domain follows', async (words, values, expected) => {
    fixture.dns.zone['nested.example'] = { TXT: [`v=spf1 ${relay} -all`] }
    expect(await checkSpf(`${words.split(' ')[0]}.example`, ...values)).toMatchObject(expected)
  })

  test('that cannot be evaluated is unknown, and changes nothing', async () => {
    const domain = await ownedDomain(fixture, organization, 'patient.example')
    publishAt(fixture.dns, ...domain.dns_records)
    expect((await checkDomain(fixture.deps, organization.tenant, domain.id)).ready_to_send).toBe(true)
    breakName(fixture.dns, 'silent.example')
    fixture.dns.zone['patient.example'] = { TXT: ['v=spf1 include:silent.example -all'] }
    const checked = await checkDomain(fixture.deps, organization.tenant, domain.id)
    expect([spfOf(checked)?.status, checked.ready_to_send]).toEqual(['unknown', true])
  })

  test.each([
    ['v=spf1 -all', 'mismatch'],
    [`v=spf1 a:${hostname} -all`, 'verified'],
  ] as const)('is judged also where sending does not depend on it: %s is %s', async (value, status) => {
    const deps = { ...fixture.deps, instance: { hostname, spfInclude: undefined } }
    const name = `optional-${status}.example`
    publishAt(fixture.dns, ownershipRecord(organization.tenant.organizationId, name))
    const request = { brandId: organization.brandId, domain: name, publishDns: false }
    const domain = await createDomain(deps, organization.tenant, request)
    publishAt(fixture.dns, ...domain.dns_records.filter(record => record.purpose !== 'spf'))
    spfAt(name, value)
    const checked = await checkDomain(deps, organization.tenant, domain.id)
    expect([spfOf(checked)?.status, checked.ready_to_send]).toEqual([status, true])
  })

  test('reports several records, and one that allows everyone, until it is fixed', async () => {
    const twice = await checkSpf('twice.example', `v=spf1 ${relay} ~all`, 'v=spf1 mx -all')
    expect(twice).toMatchObject({ status: 'mismatch', detail: expect.stringContaining('2 SPF records'), ready: false })
    expect(await checkSpf('open.example', `v=spf1 ${relay} +all`)).toMatchObject({
      status: 'mismatch',
      detail: expect.stringContaining('+all'),
      ready: false,
    })
    const { id } = await fixture.deps.db
      .selectFrom('domains')
      .select('id')
      .where('domain', '=', 'open.example')
      .executeTakeFirstOrThrow()
    fixture.dns.zone['open.example'] = { TXT: [`v=spf1 ${relay} -all`] }
    const mended = await checkDomain(fixture.deps, organization.tenant, id)
    expect(spfOf(mended)).toMatchObject({ status: 'verified' })
    expect(spfOf(mended)).not.toHaveProperty('detail')
  })
})

describe("a domain's own return path", () => {
  const create = (domain: string) => {
    publishAt(fixture.dns, ownershipRecord(organization.tenant.organizationId, domain))
    return createDomain(ours, organization.tenant, { brandId: organization.brandId, domain, publishDns: true })
  }
  const returnPath = ({ dns_records }: DomainJson) => dns_records.filter(record => record.purpose === 'return_path')
  const verified = async (id: string) =>
    (await selectVerifiedReturnPaths(ours.db, [id as Id<'dom'>])).get(id as Id<'dom'>)

  test('is used once both its records are verified, and sending depends on neither', async () => {
    const domain = await create('bounced.example')
    expect(returnPath(domain)).toMatchObject([
      { type: 'MX', name: 'mr-bounces.bounced.example', value: hostname, priority: 10, required: false },
      { type: 'TXT', name: 'mr-bounces.bounced.example', value: 'v=spf1 include:spf.relay.example ~all' },
    ])
    const [mx, spf] = returnPath(domain)
    if (!mx || !spf) throw new Error('no records')
    publishAt(fixture.dns, ...domain.dns_records.filter(record => record.purpose !== 'return_path'), mx)
    expect(await checkDomain(ours, organization.tenant, domain.id)).toMatchObject({ ready_to_send: true })
    expect(await verified(domain.id)).toBeUndefined()
    publishAt(fixture.dns, spf)
    expect(returnPath(await checkDomain(ours, organization.tenant, domain.id)).map(record => record.status)).toEqual([
      'verified',
      'verified',
    ])
    expect(await verified(domain.id)).toBe('mr-bounces.bounced.example')
    fixture.dns.zone['mr-bounces.bounced.example'] = { MX: ['10 other.example'], TXT: [spf.value] }
    const moved = await checkDomain(ours, organization.tenant, domain.id)
    expect(returnPath(moved)[0]).toMatchObject({ status: 'mismatch', found: ['10 other.example'] })
    expect([moved.ready_to_send, await verified(domain.id)]).toEqual([true, undefined])
  })

  test('is added to an existing domain, and removed, at its next provisioning with another relay', async () => {
    const domain = await ownedDomain(fixture, organization, 'earlier.example')
    expect(returnPath(domain)).toEqual([])
    expect(returnPath(await provisionDomain(ours, organization.tenant, domain.id, false))).toHaveLength(2)
    const theirs = { ...ours, instance: { ...ours.instance, returnPath: 'theirs' } as const }
    expect(returnPath(await provisionDomain(theirs, organization.tenant, domain.id, false))).toEqual([])
  })

  test("is published in a zone of ours, including its MX record, which does not redirect the domain's mail", async () => {
    const zone = localZone(ours.db, tickingClock())
    const inZone: DomainDeps = { ...ours, dnsProvider: zone, resolver: localResolver(ours.db, ours.resolver) }
    const held = await zone.findZone('ours.test')
    await held?.create(toZoneRecord(ownershipRecord(organization.tenant.organizationId, 'ours.test')), null)
    const domain = await createDomain(inZone, organization.tenant, {
      brandId: organization.brandId,
      domain: 'ours.test',
      publishDns: true,
    })
    expect(returnPath(domain).map(record => record.status)).toEqual(['verified', 'verified'])
    expect(await held?.recordsAt('ours.test')).toMatchObject([{ type: 'TXT' }])
    const { published, unchanged } = await publishDns(inZone, organization.tenant, domain.id)
    expect(published).toEqual([])
    expect(unchanged.map(record => `${record.purpose} ${record.type}`)).toEqual([
      'dkim TXT',
      'spf TXT',
      'return_path MX',
      'return_path TXT',
      'dmarc TXT',
    ])
  })
})
