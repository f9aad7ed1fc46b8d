import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPublicKey } from 'node:crypto'
import { checkDomain, createDomain, getDomain, getOwnership, provisionDomain } from '../../src/domains/domains.ts'
import { createMailbox } from '../../src/domains/mailboxes/mailboxes.ts'
import { claimReceiving } from '../../src/domains/receiving-claim.ts'
import type { DnsRecordJson, DomainJson } from '../../src/domains/schema.ts'
import { signingKeys } from '../harness/secrets.ts'
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

const recordOf = (domain: DomainJson, purpose: string): DnsRecordJson => {
  const found = domain.dns_records.find(each => each.purpose === purpose)
  if (!found) throw new Error(`no ${purpose} record`)
  return found
}

const statuses = (domain: DomainJson) => Object.fromEntries(domain.dns_records.map(each => [each.purpose, each.status]))

const create = (domain: string, publishDns = true) =>
  createDomain(world.use, tenant.owner, { brandId: tenant.brandId, domain, publishDns })

test('takes a domain from nothing to sending and receiving', async () => {
  const { use, dns } = world
  const { owner, brandId } = tenant
  const before = await getOwnership(use, owner, { brandId, domain: 'Acme.Example' })
  expect(before).toMatchObject({
    domain: 'acme.example',
    verified: false,
    ownership: { record: { purpose: 'ownership', type: 'TXT', name: '_mailroom.acme.example', status: 'pending' } },
  })
  publishAt(dns, before.ownership.record)
  expect(await getOwnership(use, owner, { brandId, domain: 'acme.example' })).toMatchObject({
    verified: true,
    ownership: { record: { status: 'verified', found: [before.ownership.record.value] } },
  })

  const created = await create('ACME.example.')
  expect(created).toMatchObject({
    domain: 'acme.example',
    brand_id: brandId,
    status: 'pending',
    ownership_verified: true,
    ready_to_send: false,
    last_checked_at: null,
    receiving: { live: false, next_step: 'identity', identity: { dns_records: [] } },
  })
  expect(created).not.toHaveProperty('provider_error')
  const { id } = created
  expect(recordOf(created, 'dkim')).toMatchObject({ type: 'TXT', required: true, status: 'pending', ttl: 300 })
  expect(recordOf(created, 'dkim').name).toMatch(/^mr1-20260131-[0-9a-z]{6}\._domainkey\.acme\.example$/)
  expect(recordOf(created, 'spf')).toMatchObject({
    name: 'acme.example',
    value: 'v=spf1 include:spf.relay.example ~all',
    required: true,
  })
  expect(recordOf(created, 'dmarc')).toMatchObject({ name: '_dmarc.acme.example', required: false })

  expect(statuses(await checkDomain(use, owner, id))).toEqual({ dkim: 'pending', spf: 'pending', dmarc: 'pending' })
  publishAt(dns, recordOf(created, 'dkim'))
  const half = await checkDomain(use, owner, id)
  expect(half.ready_to_send).toBe(false)
  expect(statuses(half)).toEqual({ dkim: 'verified', spf: 'pending', dmarc: 'pending' })
  publishAt(dns, recordOf(created, 'spf'))
  const ready = await checkDomain(use, owner, id)
  expect(ready).toMatchObject({ status: 'verified', ready_to_send: true })
  expect(ready.last_checked_at).not.toBeNull()

  const claimed = await claimReceiving(use, owner, id)
  expect(claimed).toMatchObject({
    live: false,
    next_step: 'identity',
    mx: {
      record: { purpose: 'mx', type: 'MX', name: 'acme.example', value: hostname, priority: 10, status: 'pending' },
    },
    identity: { dns_records: [{ purpose: 'receiving_identity', type: 'CNAME', name: '_mailroom-in.acme.example' }] },
  })
  expect(claimed.identity.dns_records[0]?.value).toEndWith(`.${hostname}`)
  publishAt(dns, ...claimed.identity.dns_records)
  expect(await claimReceiving(use, owner, id)).toMatchObject({ live: false, next_step: 'mx' })
  publishAt(dns, claimed.mx.record)
  const live = await claimReceiving(use, owner, id)
  expect(live).toMatchObject({ live: true, mx: { record: { status: 'verified' } } })
  expect(live).not.toHaveProperty('next_step')
  expect(live.identity).not.toHaveProperty('error')
  expect((await getDomain(use, owner, id)).receiving).toEqual(live)
  expect(await createMailbox(use, owner, { domainId: id, localPart: 'hello' })).toMatchObject({ live: true })
})

test('signs with the key that is published', async () => {
  const domain = await ownedDomain(world, tenant, 'signed.example')
  const key = (await signingKeys(world.use.db, [domain.id as `dom_${string}`])).get(domain.id as `dom_${string}`)?.[0]
  if (!key) throw new Error('no key')
  expect(`${key.selector}._domainkey.${key.domain}`).toBe(recordOf(domain, 'dkim').name)
  const publicKey = createPublicKey(key.privateKey).export({ type: 'spki', format: 'der' }).toString('base64')
  expect(recordOf(domain, 'dkim').value).toBe(`v=DKIM1; k=rsa; p=${publicKey}`)
  expect(recordOf(domain, 'dkim').value.length).toBeGreaterThan(255)
})

test('keeps the key when a domain is provisioned again, also twice at once', async () => {
  const domain = await ownedDomain(world, tenant, 'again.example')
  await Promise.all([1, 2, 3].map(() => provisionDomain(world.use, tenant.owner, domain.id, true)))
  expect((await getDomain(world.use, tenant.owner, domain.id)).dns_records).toEqual(domain.dns_records)
})

describe('without the ownership record', () => {
  test('a domain is not created', async () => {
    expect(await refusalOf(create('nobody.example'))).toBe('ownership_not_verified')
  })

  test('another value is shown in the refusal', async () => {
    publishAt(world.dns, {
      type: 'TXT',
      name: '_mailroom.typo.example',
      value: 'mailroom-ownership=wrong',
      priority: null,
    })
    const refused = create('typo.example')
    await expect(refused).rejects.toMatchObject({
      code: 'ownership_not_verified',
      detail: { reason: 'Found: mailroom-ownership=wrong' },
    })
  })

  test('check and provision refuse, and sending ends', async () => {
    const domain = await ownedDomain(world, tenant, 'leaving.example')
    publishAt(world.dns, ...domain.dns_records)
    expect((await checkDomain(world.use, tenant.owner, domain.id)).ready_to_send).toBe(true)
    delete world.dns.zone['_mailroom.leaving.example']
    expect(await refusalOf(checkDomain(world.use, tenant.owner, domain.id))).toBe('ownership_not_verified')
    expect(await getDomain(world.use, tenant.owner, domain.id)).toMatchObject({
      ready_to_send: false,
      ownership_verified: false,
      status: 'failed',
      receiving: { next_step: 'ownership' },
    })
    expect(await refusalOf(provisionDomain(world.use, tenant.owner, domain.id, true))).toBe('ownership_not_verified')
    publishOwnership(world, tenant, 'leaving.example')
    expect(await provisionDomain(world.use, tenant.owner, domain.id, true)).toMatchObject({ ready_to_send: true })
  })
})

describe('when DNS does not answer', () => {
  test('a domain is not created, and nobody says that the record is missing', async () => {
    publishOwnership(world, tenant, 'broken.example')
    breakName(world.dns, '_mailroom.broken.example')
    expect(await refusalOf(create('broken.example'))).toBe('dns_unavailable')
    const { brandId, owner } = tenant
    expect(await getOwnership(world.use, owner, { brandId, domain: 'broken.example' })).toMatchObject({
      verified: false,
      ownership: { record: { status: 'unknown', found: [] } },
    })
  })

  test('a record is unknown, and what was verified stays ready', async () => {
    const domain = await ownedDomain(world, tenant, 'shaky.example')
    publishAt(world.dns, ...domain.dns_records)
    await checkDomain(world.use, tenant.owner, domain.id)
    breakName(world.dns, recordOf(domain, 'dkim').name)
    breakName(world.dns, 'shaky.example')
    const shaky = await checkDomain(world.use, tenant.owner, domain.id)
    expect(statuses(shaky)).toEqual({ dkim: 'unknown', spf: 'unknown', dmarc: 'verified' })
    expect(shaky.ready_to_send).toBe(true)
  })

  test('a record that was never seen does not become ready', async () => {
    const domain = await ownedDomain(world, tenant, 'early.example')
    for (const record of domain.dns_records) breakName(world.dns, record.name)
    const early = await checkDomain(world.use, tenant.owner, domain.id)
    expect(statuses(early)).toEqual({ dkim: 'unknown', spf: 'unknown', dmarc: 'unknown' })
    expect(early.ready_to_send).toBe(false)
  })

  test('a check of ownership that fails takes nothing away', async () => {
    const domain = await ownedDomain(world, tenant, 'outage.example')
    publishAt(world.dns, ...domain.dns_records)
    await checkDomain(world.use, tenant.owner, domain.id)
    breakName(world.dns, '_mailroom.outage.example')
    expect(await refusalOf(checkDomain(world.use, tenant.owner, domain.id))).toBe('dns_unavailable')
    expect(await getDomain(world.use, tenant.owner, domain.id)).toMatchObject({
      ready_to_send: true,
      ownership_verified: true,
    })
  })
})

describe('what stands in DNS', () => {
  test('is shown where it is not what it should be', async () => {
    const domain = await ownedDomain(world, tenant, 'wrong.example')
    const dkim = recordOf(domain, 'dkim')
    publishAt(world.dns, { ...dkim, value: 'v=DKIM1; p=AAAA' }, { ...recordOf(domain, 'spf'), value: 'v=spf1 mx -all' })
    const checked = await checkDomain(world.use, tenant.owner, domain.id)
    expect(recordOf(checked, 'dkim')).toMatchObject({ status: 'mismatch', found: ['v=DKIM1; p=AAAA'] })
    expect(recordOf(checked, 'spf')).toMatchObject({ status: 'mismatch', found: ['v=spf1 mx -all'] })
    expect(checked.ready_to_send).toBe(false)
  })

  test('is read as one value when it comes in several strings', async () => {
    const domain = await ownedDomain(world, tenant, 'split.example')
    const { name, value } = recordOf(domain, 'dkim')
    world.dns.zone[name] = { TXT: [[value.slice(0, 100), value.slice(100, 300), value.slice(300)]] }
    expect(recordOf(await checkDomain(world.use, tenant.owner, domain.id), 'dkim').status).toBe('verified')
  })

  test('is asked for anew at each check', async () => {
    const domain = await ownedDomain(world, tenant, 'fresh.example')
    await checkDomain(world.use, tenant.owner, domain.id)
    publishAt(world.dns, ...domain.dns_records)
    expect((await checkDomain(world.use, tenant.owner, domain.id)).ready_to_send).toBe(true)
  })
})

describe('two organizations', () => {
  test('have values of their own that stay the same', async () => {
    const other = await newTenant(world.use.db)
    const valueFor = async ({ owner, brandId }: TestTenant, domain: string) =>
      (await getOwnership(world.use, owner, { brandId, domain })).ownership.record.value
    const value = await valueFor(tenant, 'shared.example')
    expect(await valueFor(tenant, 'shared.example')).toBe(value)
    expect(await valueFor(other, 'shared.example')).not.toBe(value)
    expect(await valueFor(tenant, 'other.example')).not.toBe(value)
  })

  test('may both register a domain that both have proven, each under its own DKIM name', async () => {
    const other = await newTenant(world.use.db)
    publishOwnership(world, tenant, 'both.example')
    const refused = createDomain(world.use, other.owner, {
      brandId: other.brandId,
      domain: 'both.example',
      publishDns: false,
    })
    expect(await refusalOf(refused)).toBe('ownership_not_verified')
    const mine = await create('both.example')
    const theirs = await ownedDomain(world, other, 'both.example')
    expect(recordOf(mine, 'dkim').name).not.toBe(recordOf(theirs, 'dkim').name)
    expect(await refusalOf(getDomain(world.use, other.owner, mine.id))).toBe('not_found')
  })
})

test('registers a domain once in an organization, also when asked twice at once', async () => {
  publishOwnership(world, tenant, 'once.example')
  const results = await Promise.all([1, 2, 3].map(() => refusalOf(create('once.example'))))
  expect(results.filter(result => result === 'domain_taken')).toHaveLength(2)
  expect(await refusalOf(create('ONCE.example'))).toBe('domain_taken')
})

test('a retry of the same creation finds the domain that it made', async () => {
  publishOwnership(world, tenant, 'retried.example')
  const wanted = { brandId: tenant.brandId, domain: 'retried.example', publishDns: false, id: 'dom_0retried' } as const
  const make = () => createDomain(world.use, tenant.owner, wanted)
  const [first, atOnce] = await Promise.all([make(), make()])
  expect(atOnce).toEqual(first)
  expect(await make()).toEqual(first)
})

test.each([
  'example',
  'a..example',
  '1.2.3.4',
  'a b.example',
  `${'a'.repeat(60)}.`.repeat(4).concat('example'),
  '-a.example',
  '[::1]',
])('refuses %p as a domain', async text => {
  expect(await refusalOf(create(text))).toBe('invalid_request')
})

test('takes a domain in Unicode by its A-label', async () => {
  expect((await ownedDomain(world, tenant, 'xn--bcher-kva.example')).domain).toBe('xn--bcher-kva.example')
  expect(await refusalOf(create('Bücher.example'))).toBe('domain_taken')
})
