import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { checkDomain, getDomain, removeDomain } from '../../src/domains/domains.ts'
import { claimReceiving } from '../../src/domains/receiving-claim.ts'
import type { DomainJson } from '../../src/domains/schema.ts'
import {
  breakName,
  createTestOrganization,
  type DomainsFixture,
  hostname,
  openDomainsFixture,
  ownedDomain,
  publishAt,
  publishOwnership,
  refusalOf,
  type TestOrganization,
} from './fixtures.ts'

let fixture: DomainsFixture
let organization: TestOrganization

beforeAll(async () => {
  fixture = await openDomainsFixture()
  organization = await createTestOrganization(fixture.deps.db)
})
afterAll(() => fixture.close())

const claim = ({ id }: DomainJson, { tenant }: TestOrganization = organization) =>
  claimReceiving(fixture.deps, tenant, id)
const read = async ({ id }: DomainJson) => (await getDomain(fixture.deps, organization.tenant, id)).receiving
const nothingBlocks = () => Promise.resolve([])

/** A domain that receives mail. */
async function liveDomain(name: string): Promise<DomainJson> {
  const domain = await ownedDomain(fixture, organization, name)
  const { mx, identity } = await claim(domain)
  publishAt(fixture.dns, ...identity.dns_records, mx.record)
  expect((await claim(domain)).live).toBe(true)
  return domain
}

describe('the receiving claim', () => {
  test('belongs to one organization, until it deletes the domain', async () => {
    const other = await createTestOrganization(fixture.deps.db)
    const mine = await ownedDomain(fixture, organization, 'one.example')
    const theirs = await ownedDomain(fixture, other, 'one.example')
    await claim(mine)
    expect(await refusalOf(claim(theirs, other))).toBe('receiving_claimed')
    await removeDomain(fixture.deps, organization.tenant, mine.id, nothingBlocks)
    expect(await claim(theirs, other)).toMatchObject({ next_step: 'identity' })
  })

  test('goes to one of two concurrent requests', async () => {
    const other = await createTestOrganization(fixture.deps.db)
    const mine = await ownedDomain(fixture, organization, 'race.example')
    const theirs = await ownedDomain(fixture, other, 'race.example')
    const results = await Promise.all([claim(mine), claim(mine), claim(theirs, other)].map(refusalOf))
    const mineWon = results[2] === 'receiving_claimed'
    expect(results.filter(result => result === 'receiving_claimed')).toHaveLength(mineWon ? 1 : 2)
  })

  test('has a different identity in each organization', async () => {
    const other = await createTestOrganization(fixture.deps.db)
    const mine = await ownedDomain(fixture, organization, 'apart.example')
    const theirs = await ownedDomain(fixture, other, 'apart.example')
    const [first] = (await claim(mine)).identity.dns_records
    await removeDomain(fixture.deps, organization.tenant, mine.id, nothingBlocks)
    const [second] = (await claim(theirs, other)).identity.dns_records
    expect(second?.name).toBe('_mailroom-in.apart.example')
    expect(second?.value).not.toBe(first?.value as string)
  })

  test('is not created without the ownership record', async () => {
    const domain = await ownedDomain(fixture, organization, 'unproven.example')
    delete fixture.dns.zone['_mailroom.unproven.example']
    expect(await claim(domain)).toMatchObject({ live: false, next_step: 'ownership', identity: { dns_records: [] } })
    const other = await createTestOrganization(fixture.deps.db)
    expect(await claim(await ownedDomain(fixture, other, 'unproven.example'), other)).toMatchObject({
      next_step: 'identity',
    })
  })

  test('waits while ownership cannot be looked up', async () => {
    const domain = await ownedDomain(fixture, organization, 'silent.example')
    breakName(fixture.dns, '_mailroom.silent.example')
    expect(await refusalOf(claim(domain))).toBe('dns_unavailable')
    expect((await read(domain)).identity.dns_records).toEqual([])
  })
})

describe('the receiving identity', () => {
  test('is not verified by a CNAME with another target', async () => {
    const domain = await ownedDomain(fixture, organization, 'elsewhere.example')
    await claim(domain)
    fixture.dns.zone['_mailroom-in.elsewhere.example'] = { CNAME: 'other.example' }
    expect(await claim(domain)).toMatchObject({
      next_step: 'identity',
      identity: { dns_records: [{ status: 'mismatch', found: ['other.example'] }] },
    })
  })

  test('has an error, and the claim stays, when its look-up fails', async () => {
    const domain = await ownedDomain(fixture, organization, 'stuck.example')
    await claim(domain)
    breakName(fixture.dns, '_mailroom-in.stuck.example')
    const stuck = await claim(domain)
    expect(stuck).toMatchObject({
      live: false,
      next_step: 'identity',
      identity: { dns_records: [{ status: 'unknown' }] },
    })
    expect(stuck.identity.error).toContain('_mailroom-in.stuck.example')
    const other = await createTestOrganization(fixture.deps.db)
    const theirs = await ownedDomain(fixture, other, 'stuck.example')
    expect(await refusalOf(claim(theirs, other))).toBe('receiving_claimed')
    breakName(fixture.dns, '_mailroom-in.stuck.example', false)
    publishAt(fixture.dns, ...stuck.identity.dns_records)
    const verified = await claim(domain)
    expect(verified).toMatchObject({ next_step: 'mx' })
    expect(verified.identity).not.toHaveProperty('error')
  })

  test('is covered by a parent that the organization has verified', async () => {
    await liveDomain('parent.example')
    const child = await ownedDomain(fixture, organization, 'a.b.parent.example')
    expect(await claim(child)).toMatchObject({ next_step: 'mx', identity: { dns_records: [] } })
  })

  test('is covered by a parent that may send', async () => {
    const parent = await ownedDomain(fixture, organization, 'sender.example')
    const child = await ownedDomain(fixture, organization, 'in.sender.example')
    expect(await claim(child)).toMatchObject({ next_step: 'identity', identity: { dns_records: [{}] } })
    publishAt(fixture.dns, ...parent.dns_records)
    await checkDomain(fixture.deps, organization.tenant, parent.id)
    expect(await claim(child)).toMatchObject({ next_step: 'mx', identity: { dns_records: [] } })
  })

  test("is not covered by another organization's parent, nor by a name with the same suffix that is no parent", async () => {
    await liveDomain('cover.example')
    const other = await createTestOrganization(fixture.deps.db)
    expect(await claim(await ownedDomain(fixture, other, 'in.cover.example'), other)).toMatchObject({
      next_step: 'identity',
    })
    expect(await claim(await ownedDomain(fixture, organization, 'discover.example'))).toMatchObject({
      next_step: 'identity',
    })
  })
})

describe('a domain that receives', () => {
  test('continues when DNS look-ups fail', async () => {
    const domain = await liveDomain('steady.example')
    for (const name of ['_mailroom.steady.example', '_mailroom-in.steady.example', 'steady.example'])
      breakName(fixture.dns, name)
    expect(await claim(domain)).toMatchObject({ live: true })
    breakName(fixture.dns, '_mailroom.steady.example', false)
    expect(await claim(domain)).toMatchObject({ live: true, mx: { record: { status: 'unknown' } } })
    expect(await read(domain)).toMatchObject({ live: true })
  })

  test('keeps its identity when the CNAME is gone, and reports an MX record that points elsewhere', async () => {
    const domain = await liveDomain('moved.example')
    fixture.dns.zone['moved.example'] = { MX: ['10 mx.elsewhere.example'] }
    delete fixture.dns.zone['_mailroom-in.moved.example']
    expect(await claim(domain)).toMatchObject({
      live: false,
      next_step: 'mx',
      mx: { record: { status: 'mismatch', found: ['10 mx.elsewhere.example'] } },
    })
    const row = await fixture.deps.db
      .selectFrom('receiving_claims')
      .select('identity_verified')
      .where('domain', '=', 'moved.example')
      .executeTakeFirst()
    expect(row?.identity_verified).toBe(1)
  })

  test('is live with our MX record among others, at any priority', async () => {
    const domain = await ownedDomain(fixture, organization, 'several.example')
    publishAt(fixture.dns, ...(await claim(domain)).identity.dns_records)
    fixture.dns.zone['several.example'] = { MX: ['5 backup.example', `20 ${hostname.toUpperCase()}.`] }
    expect(await claim(domain)).toMatchObject({ live: true })
  })

  test('is also checked by a check of the domain', async () => {
    const domain = await ownedDomain(fixture, organization, 'checked.example')
    const { identity, mx } = await claim(domain)
    publishAt(fixture.dns, ...identity.dns_records, mx.record)
    expect((await checkDomain(fixture.deps, organization.tenant, domain.id)).receiving).toMatchObject({ live: true })
  })
})

test('a check does not create a receiving claim', async () => {
  const domain = await ownedDomain(fixture, organization, 'idle.example')
  await checkDomain(fixture.deps, organization.tenant, domain.id)
  const other = await createTestOrganization(fixture.deps.db)
  publishOwnership(fixture, other, 'idle.example')
  expect(await claim(await ownedDomain(fixture, other, 'idle.example'), other)).toMatchObject({ next_step: 'identity' })
})
