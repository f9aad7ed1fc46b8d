import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { checkDomain, getDomain, removeDomain } from '../../src/domains/domains.ts'
import { claimReceiving } from '../../src/domains/receiving-claim.ts'
import type { DomainJson } from '../../src/domains/schema.ts'
import {
  breakName,
  hostname,
  newTenant,
  openWorld,
  ownedDomain,
  publishAt,
  publishOwnership,
  refusalOf,
  type TestTenant,
  type World,
} from './fixtures.ts'

let world: World
let tenant: TestTenant

beforeAll(async () => {
  world = await openWorld()
  tenant = await newTenant(world.use.db)
})
afterAll(() => world.close())

const claim = ({ id }: DomainJson, { owner }: TestTenant = tenant) => claimReceiving(world.use, owner, id)
const read = async ({ id }: DomainJson) => (await getDomain(world.use, tenant.owner, id)).receiving
const nothingBlocks = () => Promise.resolve([])

/** A domain that receives. */
async function liveDomain(name: string): Promise<DomainJson> {
  const domain = await ownedDomain(world, tenant, name)
  const { mx, identity } = await claim(domain)
  publishAt(world.dns, ...identity.dns_records, mx.record)
  expect((await claim(domain)).live).toBe(true)
  return domain
}

describe('the claim', () => {
  test('belongs to one organization, until it deletes the domain', async () => {
    const other = await newTenant(world.use.db)
    const mine = await ownedDomain(world, tenant, 'one.example')
    const theirs = await ownedDomain(world, other, 'one.example')
    await claim(mine)
    expect(await refusalOf(claim(theirs, other))).toBe('receiving_claimed')
    await removeDomain(world.use, tenant.owner, mine.id, nothingBlocks)
    expect(await claim(theirs, other)).toMatchObject({ next_step: 'identity' })
  })

  test('goes to one of two that make it at once', async () => {
    const other = await newTenant(world.use.db)
    const mine = await ownedDomain(world, tenant, 'race.example')
    const theirs = await ownedDomain(world, other, 'race.example')
    const results = await Promise.all([claim(mine), claim(mine), claim(theirs, other)].map(refusalOf))
    const mineWon = results[2] === 'receiving_claimed'
    expect(results.filter(result => result === 'receiving_claimed')).toHaveLength(mineWon ? 1 : 2)
  })

  test('has an identity of its own in each organization', async () => {
    const other = await newTenant(world.use.db)
    const mine = await ownedDomain(world, tenant, 'apart.example')
    const theirs = await ownedDomain(world, other, 'apart.example')
    const [first] = (await claim(mine)).identity.dns_records
    await removeDomain(world.use, tenant.owner, mine.id, nothingBlocks)
    const [second] = (await claim(theirs, other)).identity.dns_records
    expect(second?.name).toBe('_mailroom-in.apart.example')
    expect(second?.value).not.toBe(first?.value as string)
  })

  test('is not made without the ownership record', async () => {
    const domain = await ownedDomain(world, tenant, 'unproven.example')
    delete world.dns.zone['_mailroom.unproven.example']
    expect(await claim(domain)).toMatchObject({ live: false, next_step: 'ownership', identity: { dns_records: [] } })
    const other = await newTenant(world.use.db)
    expect(await claim(await ownedDomain(world, other, 'unproven.example'), other)).toMatchObject({
      next_step: 'identity',
    })
  })

  test('waits while DNS does not say whose the domain is', async () => {
    const domain = await ownedDomain(world, tenant, 'silent.example')
    breakName(world.dns, '_mailroom.silent.example')
    expect(await refusalOf(claim(domain))).toBe('dns_unavailable')
    expect((await read(domain)).identity.dns_records).toEqual([])
  })
})

describe('the identity', () => {
  test('is not verified by a CNAME that leads elsewhere', async () => {
    const domain = await ownedDomain(world, tenant, 'elsewhere.example')
    await claim(domain)
    world.dns.zone['_mailroom-in.elsewhere.example'] = { CNAME: 'other.example' }
    expect(await claim(domain)).toMatchObject({
      next_step: 'identity',
      identity: { dns_records: [{ status: 'mismatch', found: ['other.example'] }] },
    })
  })

  test('has an error, and the claim stays, when its check cannot finish', async () => {
    const domain = await ownedDomain(world, tenant, 'stuck.example')
    await claim(domain)
    breakName(world.dns, '_mailroom-in.stuck.example')
    const stuck = await claim(domain)
    expect(stuck).toMatchObject({
      live: false,
      next_step: 'identity',
      identity: { dns_records: [{ status: 'unknown' }] },
    })
    expect(stuck.identity.error).toContain('_mailroom-in.stuck.example')
    const other = await newTenant(world.use.db)
    const theirs = await ownedDomain(world, other, 'stuck.example')
    expect(await refusalOf(claim(theirs, other))).toBe('receiving_claimed')
    breakName(world.dns, '_mailroom-in.stuck.example', false)
    publishAt(world.dns, ...stuck.identity.dns_records)
    const verified = await claim(domain)
    expect(verified).toMatchObject({ next_step: 'mx' })
    expect(verified.identity).not.toHaveProperty('error')
  })

  test('is covered by a parent that the organization has verified', async () => {
    await liveDomain('parent.example')
    const child = await ownedDomain(world, tenant, 'a.b.parent.example')
    expect(await claim(child)).toMatchObject({ next_step: 'mx', identity: { dns_records: [] } })
  })

  test('is covered by a parent that may send', async () => {
    const parent = await ownedDomain(world, tenant, 'sender.example')
    const child = await ownedDomain(world, tenant, 'in.sender.example')
    expect(await claim(child)).toMatchObject({ next_step: 'identity', identity: { dns_records: [{}] } })
    publishAt(world.dns, ...parent.dns_records)
    await checkDomain(world.use, tenant.owner, parent.id)
    expect(await claim(child)).toMatchObject({ next_step: 'mx', identity: { dns_records: [] } })
  })

  test("is not covered by another organization's parent, nor by a name that only ends alike", async () => {
    await liveDomain('cover.example')
    const other = await newTenant(world.use.db)
    expect(await claim(await ownedDomain(world, other, 'in.cover.example'), other)).toMatchObject({
      next_step: 'identity',
    })
    expect(await claim(await ownedDomain(world, tenant, 'discover.example'))).toMatchObject({ next_step: 'identity' })
  })
})

describe('what receives', () => {
  test('goes on when DNS fails', async () => {
    const domain = await liveDomain('steady.example')
    for (const name of ['_mailroom.steady.example', '_mailroom-in.steady.example', 'steady.example'])
      breakName(world.dns, name)
    expect(await claim(domain)).toMatchObject({ live: true })
    breakName(world.dns, '_mailroom.steady.example', false)
    expect(await claim(domain)).toMatchObject({ live: true, mx: { record: { status: 'unknown' } } })
    expect(await read(domain)).toMatchObject({ live: true })
  })

  test('keeps its identity when the CNAME is gone, and says when the MX record leads elsewhere', async () => {
    const domain = await liveDomain('moved.example')
    world.dns.zone['moved.example'] = { MX: ['10 mx.elsewhere.example'] }
    delete world.dns.zone['_mailroom-in.moved.example']
    expect(await claim(domain)).toMatchObject({
      live: false,
      next_step: 'mx',
      mx: { record: { status: 'mismatch', found: ['10 mx.elsewhere.example'] } },
    })
    const kept = await world.use.db
      .selectFrom('receiving_claims')
      .select('identity_verified')
      .where('domain', '=', 'moved.example')
      .executeTakeFirst()
    expect(kept?.identity_verified).toBe(1)
  })

  test('is live with our MX record among others, whatever its priority', async () => {
    const domain = await ownedDomain(world, tenant, 'several.example')
    publishAt(world.dns, ...(await claim(domain)).identity.dns_records)
    world.dns.zone['several.example'] = { MX: ['5 backup.example', `20 ${hostname.toUpperCase()}.`] }
    expect(await claim(domain)).toMatchObject({ live: true })
  })

  test('is looked at by a check of the domain as well', async () => {
    const domain = await ownedDomain(world, tenant, 'checked.example')
    const { identity, mx } = await claim(domain)
    publishAt(world.dns, ...identity.dns_records, mx.record)
    expect((await checkDomain(world.use, tenant.owner, domain.id)).receiving).toMatchObject({ live: true })
  })
})

test('a domain whose mail nobody claimed is not claimed by a check', async () => {
  const domain = await ownedDomain(world, tenant, 'idle.example')
  await checkDomain(world.use, tenant.owner, domain.id)
  const other = await newTenant(world.use.db)
  publishOwnership(world, other, 'idle.example')
  expect(await claim(await ownedDomain(world, other, 'idle.example'), other)).toMatchObject({ next_step: 'identity' })
})
