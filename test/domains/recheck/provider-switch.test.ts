import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import pino from 'pino'
import { up } from '../../../src/base/database/migrations/0013-lists.ts'
import { checkDomain, getDomain, removeDomain } from '../../../src/domains/domains.ts'
import { suspendUnenrolledDomains } from '../../../src/domains/recheck/provider-switch.ts'
import { type RecheckDeps, recheckDueDomains } from '../../../src/domains/recheck/recheck.ts'
import type { DomainJson } from '../../../src/domains/schema.ts'
import type { Provider } from '../../../src/ports/provider/port.ts'
import { sesProvider } from '../../../src/ports/provider/ses/ses.ts'
import { type TestClock, testClock } from '../../harness/http-server.ts'
import { setAwsCredentials, startSes, type TestSes } from '../../harness/ses.ts'
import {
  createTestOrganization,
  type DomainsFixture,
  hostname,
  openDomainsFixture,
  ownedDomain,
  publishAt,
  type TestOrganization,
} from '../fixtures.ts'

let ses: TestSes
let fixture: DomainsFixture
let organization: TestOrganization
let clock: TestClock
const ends: (() => unknown)[] = []

let restore: () => void

beforeAll(async () => {
  ses = startSes()
  restore = setAwsCredentials()
  clock = testClock()
  fixture = await openDomainsFixture({ clock, instance: { hostname, spfInclude: undefined, returnPath: 'ours' } })
  organization = await createTestOrganization(fixture.deps.db)
}, 60_000)

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  ses.response = null
  await fixture.deps.db.deleteFrom('domains').execute()
})

afterAll(async () => {
  await fixture.close()
  ses.close()
  restore()
})

const log = pino({ level: 'silent' })

/** The dependencies of a process that runs with a relay. */
const bySmarthost = (): RecheckDeps => ({ ...fixture.deps, log, longestWaitMs: 3_600_000, rotateDays: 0 })

/** The dependencies of a process that runs with SES. */
function bySes(region = 'eu-west-1'): RecheckDeps {
  const options = { region, configurationSet: 'mail', perSecond: null, receivesEvents: true }
  const provider: Provider = sesProvider({ ...options, endpoint: ses.url })
  ends.push(() => provider.close())
  const instance = { hostname, spfInclude: undefined, returnPath: 'theirs' } as const
  return { ...bySmarthost(), instance, identities: provider.identities }
}

const start = (deps: RecheckDeps) => suspendUnenrolledDomains({ ...deps, identities: deps.identities })
const read = ({ id }: DomainJson) => getDomain(fixture.deps, organization.tenant, id)
const ofProvider = ({ dns_records }: DomainJson) => dns_records.filter(record => record.type === 'CNAME')

/** Rechecks all domains that are due, after advancing the clock. */
async function recheckDue(deps: RecheckDeps, laterMs = 0): Promise<void> {
  clock.forward(laterMs)
  await recheckDueDomains(deps)
}

let names = 0

/** A domain that sends through the relay. */
async function readyDomain(): Promise<DomainJson> {
  const domain = await ownedDomain(fixture, organization, `shop${++names}.example`)
  publishAt(fixture.dns, ...domain.dns_records)
  const ready = await checkDomain(bySmarthost(), organization.tenant, domain.id)
  expect(ready.ready_to_send).toBe(true)
  return ready
}

/** A domain that is enrolled, published, and verified by SES. */
async function moveToSes(deps: RecheckDeps, domain: DomainJson): Promise<void> {
  await recheckDue(deps)
  const enrolled = await read(domain)
  expect(ofProvider(enrolled)).toHaveLength(3)
  publishAt(fixture.dns, ...ofProvider(enrolled))
  const identity = ses.identities.get(domain.domain)
  if (identity) identity.isVerified = true
  expect((await checkDomain(deps, organization.tenant, domain.id)).ready_to_send).toBe(true)
}

test('after the start with SES no domain is ready that is not enrolled with it', async () => {
  const domain = await readyDomain()
  const deps = bySes()
  await start(deps)
  expect(await read(domain)).toMatchObject({
    status: 'pending',
    ready_to_send: false,
    provider_error: expect.stringContaining('not enrolled with Amazon SES'),
  })
  // All published records are verified, which is not enough.
  expect(await checkDomain(deps, organization.tenant, domain.id)).toMatchObject({
    status: 'pending',
    ready_to_send: false,
  })
  expect(ses.identities.has(domain.domain)).toBe(false)
})

test('a recheck enrols it, and it is ready once SES has verified its records', async () => {
  const domain = await readyDomain()
  const deps = bySes()
  await start(deps)
  await recheckDue(deps)
  const enrolled = await read(domain)
  expect(enrolled).not.toHaveProperty('provider_error')
  expect([ses.identities.has(domain.domain), ofProvider(enrolled).length, enrolled.ready_to_send]).toEqual([
    true,
    3,
    false,
  ])
  const back = enrolled.dns_records.filter(record => record.purpose === 'return_path' && record.type === 'MX')
  expect(back.map(record => record.value)).toEqual(['feedback-smtp.eu-west-1.amazonses.com'])
  await moveToSes(deps, domain)
})

test('while SES is unavailable it is not ready and shows the reason; it is enrolled later', async () => {
  const domain = await readyDomain()
  const deps = bySes()
  ses.response = { status: 429, error: 'TooManyRequestsException', body: { message: 'Rate exceeded' } }
  await start(deps)
  for (let time = 0; time < 4; time++) await recheckDue(deps, 3_700_000)
  expect(await read(domain)).toMatchObject({
    ready_to_send: false,
    provider_error: expect.stringContaining('Rate exceeded'),
  })
  ses.response = null
  await recheckDue(deps, 3_700_000)
  await moveToSes(deps, domain)
})

test('a start with the same provider changes nothing', async () => {
  const domain = await readyDomain()
  const deps = bySes()
  await start(deps)
  await moveToSes(deps, domain)
  const before = await read(domain)
  const plans = () => fixture.deps.db.selectFrom('domains').select(['id', 'next_check_at']).execute()
  const planned = await plans()
  clock.forward(1000)
  await start(deps)
  expect([await read(domain), await plans()]).toEqual([before, planned])
})

test('a domain enrolled in one SES region is not enrolled in another', async () => {
  const domain = await readyDomain()
  await start(bySes())
  await moveToSes(bySes(), domain)
  await start(bySes('us-east-2'))
  expect((await read(domain)).ready_to_send).toBe(false)
})

test('back with the relay the records of SES are no longer needed, and the domain can send throughout', async () => {
  const domain = await readyDomain()
  const deps = bySes()
  await start(deps)
  await moveToSes(deps, domain)
  const keys = ofProvider(await read(domain)).map(record => record.name)
  await start(bySmarthost())
  expect((await read(domain)).ready_to_send).toBe(true)
  await recheckDue(bySmarthost())
  const after = await read(domain)
  expect([ofProvider(after), after.ready_to_send]).toEqual([[], true])
  const back = after.dns_records.filter(record => record.purpose === 'return_path' && record.type === 'MX')
  expect(back.map(record => record.value)).toEqual([hostname])
  for (const name of keys) fixture.dns.zone[name] = {}
  for (let time = 0; time < 4; time++) await recheckDue(bySmarthost(), 3_700_000)
  expect((await read(domain)).ready_to_send).toBe(true)
})

test('a domain whose enrolment failed is not ready although its other records are verified', async () => {
  const deps = bySes()
  ses.response = { status: 403, error: 'AccessDeniedException', body: { message: 'not authorized' } }
  const domain = await ownedDomain({ ...fixture, deps: deps }, organization, 'new.example')
  publishAt(fixture.dns, ...domain.dns_records)
  const checked = await checkDomain(deps, organization.tenant, domain.id)
  expect([checked.ready_to_send, checked.dns_records.every(record => record.status === 'verified')]).toEqual([
    false,
    true,
  ])
})

test('deleting a domain reports what remains at SES and in the zone', async () => {
  const deps = bySes()
  const domain = await ownedDomain({ ...fixture, deps: deps }, organization, 'gone.example')
  const { warning } = await removeDomain(deps, organization.tenant, domain.id, () => Promise.resolve([]))
  for (const { name } of ofProvider(domain)) expect(warning).toContain(name)
  expect(warning).toContain('Amazon SES')
  expect(warning).toContain('mr-bounces.gone.example')
  const plain = await ownedDomain(fixture, organization, 'plain.example')
  const removed = await removeDomain(fixture.deps, organization.tenant, plain.id, () => Promise.resolve([]))
  expect(removed.warning).not.toContain('CNAME')
})

test('the migration marks the domains that were enrolled with SES before', async () => {
  const deps = bySes('eu-west-1')
  const domain = await ownedDomain({ ...fixture, deps: deps }, organization, 'old.example')
  const other = await ownedDomain(fixture, organization, 'by-relay.example')
  const places = () => fixture.deps.db.selectFrom('domains').select(['id', 'enrolled_with']).orderBy('id').execute()
  const before = await places()
  await fixture.deps.db.updateTable('domains').set({ enrolled_with: null }).execute()
  await up(fixture.deps.db as never)
  expect(await places()).toEqual(before)
  expect(new Map(before.map(row => [String(row.id), row.enrolled_with]))).toEqual(
    new Map([
      [domain.id, 'ses eu-west-1'],
      [other.id, null],
    ]),
  )
})
