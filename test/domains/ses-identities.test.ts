import { afterEach, beforeEach, expect, test } from 'bun:test'
import { checkDomain, provisionDomain } from '../../src/domains/domains.ts'
import type { DomainJson } from '../../src/domains/schema.ts'
import { sesProvider } from '../../src/ports/provider/ses/ses.ts'
import { setAwsCredentials, startSes, type TestSes } from '../harness/ses.ts'
import { hostname, newTenant, openWorld, ownedDomain, publishAt, type TestTenant, type World } from './fixtures.ts'

let ses: TestSes
let world: World
let tenant: TestTenant
let ends: (() => unknown)[] = []

beforeEach(async () => {
  ses = startSes()
  const restore = setAwsCredentials()
  const options = { region: 'eu-west-1', configurationSet: 'mail', perSecond: null, receivesEvents: true }
  const provider = sesProvider({ ...options, endpoint: ses.url })
  world = await openWorld({
    identities: provider.identities,
    instance: { hostname, spfInclude: 'amazonses.com', returnPath: 'theirs' },
  })
  tenant = await newTenant(world.use.db)
  ends = [() => world.close(), () => provider.close(), () => ses.close(), restore]
})

afterEach(async () => {
  for (const end of ends) await end()
})

const register = (domain: string) => ownedDomain(world, tenant, domain)
const check = ({ id }: DomainJson) => checkDomain(world.use, tenant.owner, id)
const provision = ({ id }: DomainJson) => provisionDomain(world.use, tenant.owner, id, false)
const ofProvider = ({ dns_records }: DomainJson) =>
  dns_records
    .filter(each => each.type === 'CNAME')
    .map(({ purpose, name, value, required }) => [purpose, name, value, required])
    .sort()

/** Publishes all that a domain wants, as its owner would. */
function publishAll(domain: DomainJson) {
  publishAt(world.dns, ...domain.dns_records)
  world.dns.zone['amazonses.com'] = { TXT: ['v=spf1 ip4:199.255.192.0/22 -all'] }
}

test('a registered domain is enrolled with SES, and its records are to be published', async () => {
  const domain = await register('shop.example')
  expect(ofProvider(domain)).toEqual(
    ['ashopexample', 'bshopexample', 'cshopexample'].map(token => [
      'dkim',
      `${token}._domainkey.shop.example`,
      `${token}.dkim.eu-west-1.amazonses.com`,
      true,
    ]),
  )
  const back = domain.dns_records.filter(each => each.name === 'mr-bounces.shop.example')
  expect(back.map(({ type, value, priority, required }) => [type, value, priority, required]).sort()).toEqual([
    ['MX', 'feedback-smtp.eu-west-1.amazonses.com', 10, false],
    ['TXT', 'v=spf1 include:amazonses.com ~all', null, false],
  ])
  expect(domain).not.toHaveProperty('provider_error')
  expect(ses.identities.get('shop.example')).toMatchObject({ mailFrom: 'mr-bounces.shop.example', isForwarding: false })
})

test('a domain is ready to send once SES has seen its records too', async () => {
  const domain = await register('shop.example')
  publishAll(domain)
  const waiting = await check(domain)
  expect([waiting.ready_to_send, waiting.status]).toEqual([false, 'pending'])
  const identity = ses.identities.get('shop.example')
  if (identity) identity.isVerified = true
  expect((await check(domain)).ready_to_send).toBe(true)
})

test('what SES does not answer takes nothing away', async () => {
  const domain = await register('shop.example')
  publishAll(domain)
  const identity = ses.identities.get('shop.example')
  if (identity) identity.isVerified = true
  await check(domain)
  ses.response = { status: 429, error: 'TooManyRequestsException', body: { message: 'Rate exceeded' } }
  const after = await check(domain)
  expect(after.ready_to_send).toBe(true)
  expect(after.dns_records.filter(each => each.status === 'unknown').map(each => each.type)).toEqual([
    'CNAME',
    'CNAME',
    'CNAME',
  ])
  ses.response = null
  if (identity) identity.isVerified = false
  expect((await check(domain)).ready_to_send).toBe(false)
})

test('an enrolment that fails is told, and done by the provision operation', async () => {
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

test('enrolling again changes nothing, nor does another organization', async () => {
  const domain = await register('shop.example')
  publishAll(domain)
  const identity = ses.identities.get('shop.example')
  if (identity) identity.isVerified = true
  const before = await check(domain)
  const statuses = (each: DomainJson) => each.dns_records.map(({ name, type, status }) => [name, type, status]).sort()
  expect(statuses(await provision(domain))).toEqual(statuses(before))
  const other = await newTenant(world.use.db)
  expect(ofProvider(await ownedDomain(world, other, 'shop.example'))).toEqual(ofProvider(domain))
  expect(ses.identities.size).toBe(1)
})

test('what the operator has set up at SES stays', async () => {
  const identity = { isVerified: true, mailFrom: 'out.shop.example', isForwarding: true, tokens: ['own'] }
  ses.identities.set('shop.example', { ...identity, origin: 'EXTERNAL' })
  const domain = await register('shop.example')
  expect(ofProvider(domain)).toEqual([])
  expect(domain.dns_records.map(each => each.name)).toContain('out.shop.example')
  expect(ses.identities.get('shop.example')?.mailFrom).toBe('out.shop.example')
})

test('with another provider the records of SES are wanted no more', async () => {
  const domain = await register('shop.example')
  const { identities: _, ...use } = world.use
  const after = await provisionDomain(use, tenant.owner, domain.id, false)
  expect(after.dns_records.map(each => each.purpose).sort()).toEqual(['dkim', 'dmarc', 'spf'])
})
