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

  test('may need ten look-ups; eleven are too many, however deeply nested', async () => {
    spfAt('spf.relay.example', 'v=spf1 ip4:192.0.2.0/24 -all')
    spfAt('four.example', 'v=spf1 a mx exists:%{i}.x.example include:more.example -all')
    spfAt('more.example', 'v=spf1 a:one.example mx:two.example/24 ptr -all')
    // 1 for the relay, 1 for four.example, its 4 and the 3 of more.example: 9.
    expect(await checkSpf('ten.example', `v=spf1 ${relay} include:four.example a ~all`)).toMatchObject({
      status: 'verified',
      ready: true,
    })
    const eleven = await checkSpf('eleven.example', `v=spf1 ${relay} include:four.example a mx ~all`)
    expect(eleven).toMatchObject({
      status: 'mismatch',
      found: [`v=spf1 ${relay} include:four.example a mx ~all`],
      detail: expect.stringContaining('more than 10 DNS look-ups'),
      ready: false,
    })
  })

  test('with a circular include is wrong, and the check ends', async () => {
    spfAt('circle.example', 'v=spf1 include:back.example -all')
    spfAt('back.example', 'v=spf1 redirect=circle.example')
    expect(await checkSpf('round.example', `v=spf1 ${relay} include:circle.example ~all`)).toMatchObject({
      status: 'mismatch',
      detail: expect.stringContaining('more than 10 DNS look-ups'),
    })
  })

  test('is not counted wrong for look-ups that fail', async () => {
    breakName(fixture.dns, 'silent.example')
    expect(await checkSpf('patient.example', `v=spf1 ${relay} include:silent.example ~all`)).toMatchObject({
      status: 'verified',
    })
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
