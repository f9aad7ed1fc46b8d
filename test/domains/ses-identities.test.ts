import { afterEach, beforeEach, expect, test } from 'bun:test'
import { checkDomain, provisionDomain } from '../../src/domains/domains.ts'
import type { DomainJson } from '../../src/domains/schema.ts'
import { sesProvider } from '../../src/ports/provider/ses/ses.ts'
import { setAwsCredentials, startSes, type TestSes } from '../harness/ses.ts'
import {
  createTestOrganization,
  type DomainsFixture,
  hostname,
  openDomainsFixture,
  ownedDomain,
  publishAt,
  type TestOrganization,
} from './fixtures.ts'

let ses: TestSes
let fixture: DomainsFixture
let organization: TestOrganization
let ends: (() => unknown)[] = []

beforeEach(async () => {
  ses = startSes()
  const restore = setAwsCredentials()
  const options = { region: 'eu-west-1', configurationSet: 'mail', perSecond: null, receivesEvents: true }
  const provider = sesProvider({ ...options, endpoint: ses.url })
  fixture = await openDomainsFixture({
    identities: provider.identities,
    instance: { hostname, spfInclude: 'amazonses.com', returnPath: 'theirs' },
  })
  organization = await createTestOrganization(fixture.deps.db)
  ends = [() => fixture.close(), () => provider.close(), () => ses.close(), restore]
})

afterEach(async () => {
  for (const end of ends) await end()
})

const register = (domain: string) => ownedDomain(fixture, organization, domain)
const check = ({ id }: DomainJson) => checkDomain(fixture.deps, organization.tenant, id)
const provision = ({ id }: DomainJson) => provisionDomain(fixture.deps, organization.tenant, id, false)
const ofProvider = ({ dns_records }: DomainJson) =>
  dns_records
    .filter(record => record.type === 'CNAME')
    .map(({ purpose, name, value, required }) => [purpose, name, value, required])
    .sort()

/** Publishes all records of a domain, as its owner would. */
function publishAll(domain: DomainJson) {
  publishAt(fixture.dns, ...domain.dns_records)
  fixture.dns.zone['amazonses.com'] = { TXT: ['v=spf1 ip4:199.255.192.0/22 -all'] }
}

test('a registered domain is enrolled with SES, and its records are listed', async () => {
  const domain = await register('shop.example')
  expect(ofProvider(domain)).toEqual(
    ['ashopexample', 'bshopexample', 'cshopexample'].map(token => [
      'dkim',
      `${token}._domainkey.shop.example`,
      `${token}.dkim.eu-west-1.amazonses.com`,
      true,
    ]),
  )
  const back = domain.dns_records.filter(record => record.name === 'mr-bounces.shop.example')
  expect(back.map(({ type, value, priority, required }) => [type, value, priority, required]).sort()).toEqual([
    ['MX', 'feedback-smtp.eu-west-1.amazonses.com', 10, false],
    ['TXT', 'v=spf1 include:amazonses.com ~all', null, false],
  ])
  expect(domain).not.toHaveProperty('provider_error')
  expect(ses.identities.get('shop.example')).toMatchObject({ mailFrom: 'mr-bounces.shop.example', isForwarding: false })
})

test('a domain is ready to send once SES has verified its records too', async () => {
  const domain = await register('shop.example')
  publishAll(domain)
  const waiting = await check(domain)
  expect([waiting.ready_to_send, waiting.status]).toEqual([false, 'pending'])
  const identity = ses.identities.get('shop.example')
  if (identity) identity.isVerified = true
  expect((await check(domain)).ready_to_send).toBe(true)
})

test('a failed request to SES changes nothing', async () => {
  const domain = await register('shop.example')
  publishAll(domain)
  const identity = ses.identities.get('shop.example')
  if (identity) identity.isVerified = true
  await check(domain)
  ses.response = { status: 429, error: 'TooManyRequestsException', body: { message: 'Rate exceeded' } }
  const after = await check(domain)
  expect(after.ready_to_send).toBe(true)
  expect(after.dns_records.filter(record => record.status === 'unknown').map(record => record.type)).toEqual([
    'CNAME',
    'CNAME',
    'CNAME',
  ])
  ses.response = null
  if (identity) identity.isVerified = false
  expect((await check(domain)).ready_to_send).toBe(false)
})

test('a failed enrolment is reported, and repeated by the provision operation', async () => {
  ses.response = {
    status: 403,
    error: 'AccessDeniedException',
    body: { message: 'not authorized: ses:GetEmailIdentity' },
  }
  const domain = await register('shop.example')
  expect(domain.provider_error).toContain('not authorized: ses:GetEmailIdentity')
  expect((await provision(domain)).provider_error).toContain('Amazon SES')
  ses.response = null
  const after = await provision(domain)
  expect(after).not.toHaveProperty('provider_error')
  expect(ofProvider(after)).toHaveLength(3)
})

test('enrolling again changes nothing, also from another organization', async () => {
  const domain = await register('shop.example')
  publishAll(domain)
  const identity = ses.identities.get('shop.example')
  if (identity) identity.isVerified = true
  const before = await check(domain)
  const statuses = (domain: DomainJson) =>
    domain.dns_records.map(({ name, type, status }) => [name, type, status]).sort()
  expect(statuses(await provision(domain))).toEqual(statuses(before))
  const other = await createTestOrganization(fixture.deps.db)
  expect(ofProvider(await ownedDomain(fixture, other, 'shop.example'))).toEqual(ofProvider(domain))
  expect(ses.identities.size).toBe(1)
})

test("the operator's own settings at SES stay", async () => {
  const identity = { isVerified: true, mailFrom: 'out.shop.example', isForwarding: true, tokens: ['own'] }
  ses.identities.set('shop.example', { ...identity, origin: 'EXTERNAL' })
  const domain = await register('shop.example')
  expect(ofProvider(domain)).toEqual([])
  expect(domain.dns_records.map(record => record.name)).toContain('out.shop.example')
  expect(ses.identities.get('shop.example')?.mailFrom).toBe('out.shop.example')
})

test('with another provider the records of SES are no longer needed', async () => {
  const domain = await register('shop.example')
  const { identities: _, ...deps } = fixture.deps
  const after = await provisionDomain(deps, organization.tenant, domain.id, false)
  expect(after.dns_records.map(record => record.purpose).sort()).toEqual(['dkim', 'dmarc', 'spf'])
})
