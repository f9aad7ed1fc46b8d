import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPublicKey } from 'node:crypto'
import { checkDomain, createDomain, getDomain, getOwnership, provisionDomain } from '../../src/domains/domains.ts'
import { createMailbox } from '../../src/domains/mailboxes/mailboxes.ts'
import { claimReceiving } from '../../src/domains/receiving-claim.ts'
import type { DnsRecordJson, DomainJson } from '../../src/domains/schema.ts'
import { signingKeys } from '../harness/secrets.ts'
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

const recordOf = (domain: DomainJson, purpose: string): DnsRecordJson => {
  const found = domain.dns_records.find(record => record.purpose === purpose)
  if (!found) throw new Error(`no ${purpose} record`)
  return found
}

const statuses = (domain: DomainJson) =>
  Object.fromEntries(domain.dns_records.map(record => [record.purpose, record.status]))

const create = (domain: string, publishDns = true) =>
  createDomain(fixture.deps, organization.tenant, { brandId: organization.brandId, domain, publishDns })

test('takes a domain from nothing to sending and receiving', async () => {
  const { deps, dns } = fixture
  const { tenant, brandId } = organization
  const before = await getOwnership(deps, tenant, { brandId, domain: 'Acme.Example' })
  expect(before).toMatchObject({
    domain: 'acme.example',
    verified: false,
    ownership: { record: { purpose: 'ownership', type: 'TXT', name: '_mailroom.acme.example', status: 'pending' } },
  })
  publishAt(dns, before.ownership.record)
  expect(await getOwnership(deps, tenant, { brandId, domain: 'acme.example' })).toMatchObject({
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

  expect(statuses(await checkDomain(deps, tenant, id))).toEqual({ dkim: 'pending', spf: 'pending', dmarc: 'pending' })
  publishAt(dns, recordOf(created, 'dkim'))
  const half = await checkDomain(deps, tenant, id)
  expect(half.ready_to_send).toBe(false)
  expect(statuses(half)).toEqual({ dkim: 'verified', spf: 'pending', dmarc: 'pending' })
  publishAt(dns, recordOf(created, 'spf'))
  const ready = await checkDomain(deps, tenant, id)
  expect(ready).toMatchObject({ status: 'verified', ready_to_send: true })
  expect(ready.last_checked_at).not.toBeNull()

  const claimed = await claimReceiving(deps, tenant, id)
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
  expect(await claimReceiving(deps, tenant, id)).toMatchObject({ live: false, next_step: 'mx' })
  publishAt(dns, claimed.mx.record)
  const live = await claimReceiving(deps, tenant, id)
  expect(live).toMatchObject({ live: true, mx: { record: { status: 'verified' } } })
  expect(live).not.toHaveProperty('next_step')
  expect(live.identity).not.toHaveProperty('error')
  expect((await getDomain(deps, tenant, id)).receiving).toEqual(live)
  expect(await createMailbox(deps, tenant, { domainId: id, localPart: 'hello' })).toMatchObject({ live: true })
})

test('signs with the key that is published', async () => {
  const domain = await ownedDomain(fixture, organization, 'signed.example')
  const key = (await signingKeys(fixture.deps.db, [domain.id as `dom_${string}`])).get(
    domain.id as `dom_${string}`,
  )?.[0]
  if (!key) throw new Error('no key')
  expect(`${key.selector}._domainkey.${key.domain}`).toBe(recordOf(domain, 'dkim').name)
  const publicKey = createPublicKey(key.privateKey).export({ type: 'spki', format: 'der' }).toString('base64')
  expect(recordOf(domain, 'dkim').value).toBe(`v=DKIM1; k=rsa; p=${publicKey}`)
  expect(recordOf(domain, 'dkim').value.length).toBeGreaterThan(255)
})

test('keeps the key when a domain is provisioned again, also concurrently', async () => {
  const domain = await ownedDomain(fixture, organization, 'again.example')
  await Promise.all([1, 2, 3].map(() => provisionDomain(fixture.deps, organization.tenant, domain.id, true)))
  expect((await getDomain(fixture.deps, organization.tenant, domain.id)).dns_records).toEqual(domain.dns_records)
})

describe('without the ownership record', () => {
  test('a domain is not created', async () => {
    expect(await refusalOf(create('nobody.example'))).toBe('ownership_not_verified')
  })

  test('the refusal shows another value that was found', async () => {
    publishAt(fixture.dns, {
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
})

describe('when DNS look-ups fail', () => {
  test('a domain is not created, and the record is not reported as missing', async () => {
    publishOwnership(fixture, organization, 'broken.example')
    breakName(fixture.dns, '_mailroom.broken.example')
    expect(await refusalOf(create('broken.example'))).toBe('dns_unavailable')
    const { brandId, tenant } = organization
    expect(await getOwnership(fixture.deps, tenant, { brandId, domain: 'broken.example' })).toMatchObject({
      verified: false,
      ownership: { record: { status: 'unknown', found: [] } },
    })
  })

  test('a record is unknown, and a verified domain stays ready', async () => {
    const domain = await ownedDomain(fixture, organization, 'shaky.example')
    publishAt(fixture.dns, ...domain.dns_records)
    await checkDomain(fixture.deps, organization.tenant, domain.id)
    breakName(fixture.dns, recordOf(domain, 'dkim').name)
    breakName(fixture.dns, 'shaky.example')
    const shaky = await checkDomain(fixture.deps, organization.tenant, domain.id)
    expect(statuses(shaky)).toEqual({ dkim: 'unknown', spf: 'unknown', dmarc: 'verified' })
    expect(shaky.ready_to_send).toBe(true)
  })

  test('a domain whose record was never found does not become ready', async () => {
    const domain = await ownedDomain(fixture, organization, 'early.example')
    for (const record of domain.dns_records) breakName(fixture.dns, record.name)
    const early = await checkDomain(fixture.deps, organization.tenant, domain.id)
    expect(statuses(early)).toEqual({ dkim: 'unknown', spf: 'unknown', dmarc: 'unknown' })
    expect(early.ready_to_send).toBe(false)
  })

  test('a failed ownership look-up changes nothing', async () => {
    const domain = await ownedDomain(fixture, organization, 'outage.example')
    publishAt(fixture.dns, ...domain.dns_records)
    await checkDomain(fixture.deps, organization.tenant, domain.id)
    breakName(fixture.dns, '_mailroom.outage.example')
    expect(await refusalOf(checkDomain(fixture.deps, organization.tenant, domain.id))).toBe('dns_unavailable')
    expect(await getDomain(fixture.deps, organization.tenant, domain.id)).toMatchObject({
      ready_to_send: true,
      ownership_verified: true,
    })
  })
})

describe('a record in DNS', () => {
  test('is shown if it does not match', async () => {
    const domain = await ownedDomain(fixture, organization, 'wrong.example')
    const dkim = recordOf(domain, 'dkim')
    publishAt(
      fixture.dns,
      { ...dkim, value: 'v=DKIM1; p=AAAA' },
      { ...recordOf(domain, 'spf'), value: 'v=spf1 mx -all' },
    )
    const checked = await checkDomain(fixture.deps, organization.tenant, domain.id)
    expect(recordOf(checked, 'dkim')).toMatchObject({ status: 'mismatch', found: ['v=DKIM1; p=AAAA'] })
    expect(recordOf(checked, 'spf')).toMatchObject({ status: 'mismatch', found: ['v=spf1 mx -all'] })
    expect(checked.ready_to_send).toBe(false)
  })

  test('is read as one value when it consists of several strings', async () => {
    const domain = await ownedDomain(fixture, organization, 'split.example')
    const { name, value } = recordOf(domain, 'dkim')
    fixture.dns.zone[name] = { TXT: [[value.slice(0, 100), value.slice(100, 300), value.slice(300)]] }
    expect(recordOf(await checkDomain(fixture.deps, organization.tenant, domain.id), 'dkim').status).toBe('verified')
  })

  test('is looked up again at each check', async () => {
    const domain = await ownedDomain(fixture, organization, 'fresh.example')
    await checkDomain(fixture.deps, organization.tenant, domain.id)
    publishAt(fixture.dns, ...domain.dns_records)
    expect((await checkDomain(fixture.deps, organization.tenant, domain.id)).ready_to_send).toBe(true)
  })
})

describe('two organizations', () => {
  test('have different ownership values, which do not change', async () => {
    const other = await createTestOrganization(fixture.deps.db)
    const valueFor = async ({ tenant, brandId }: TestOrganization, domain: string) =>
      (await getOwnership(fixture.deps, tenant, { brandId, domain })).ownership.record.value
    const value = await valueFor(organization, 'shared.example')
    expect(await valueFor(organization, 'shared.example')).toBe(value)
    expect(await valueFor(other, 'shared.example')).not.toBe(value)
    expect(await valueFor(organization, 'other.example')).not.toBe(value)
  })

  test('may both register a domain whose ownership both have proven, each with its own DKIM selector', async () => {
    const other = await createTestOrganization(fixture.deps.db)
    publishOwnership(fixture, organization, 'both.example')
    const refused = createDomain(fixture.deps, other.tenant, {
      brandId: other.brandId,
      domain: 'both.example',
      publishDns: false,
    })
    expect(await refusalOf(refused)).toBe('ownership_not_verified')
    const mine = await create('both.example')
    const theirs = await ownedDomain(fixture, other, 'both.example')
    expect(recordOf(mine, 'dkim').name).not.toBe(recordOf(theirs, 'dkim').name)
    expect(await refusalOf(getDomain(fixture.deps, other.tenant, mine.id))).toBe('not_found')
  })
})

test('registers a domain once in an organization, also from concurrent requests', async () => {
  publishOwnership(fixture, organization, 'once.example')
  const results = await Promise.all([1, 2, 3].map(() => refusalOf(create('once.example'))))
  expect(results.filter(result => result === 'domain_taken')).toHaveLength(2)
  expect(await refusalOf(create('ONCE.example'))).toBe('domain_taken')
})

test('a retry of a creation finds the domain that the first attempt created', async () => {
  publishOwnership(fixture, organization, 'retried.example')
  const request = {
    brandId: organization.brandId,
    domain: 'retried.example',
    publishDns: false,
    id: 'dom_0retried',
  } as const
  const make = () => createDomain(fixture.deps, organization.tenant, request)
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

test('stores a Unicode domain as its A-label', async () => {
  expect((await ownedDomain(fixture, organization, 'xn--bcher-kva.example')).domain).toBe('xn--bcher-kva.example')
  expect(await refusalOf(create('Bücher.example'))).toBe('domain_taken')
})
