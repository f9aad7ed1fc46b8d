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
import { hostname, newTenant, openWorld, ownedDomain, publishAt, type TestTenant, type World } from '../fixtures.ts'

let ses: TestSes
let world: World
let tenant: TestTenant
let clock: TestClock
const ends: (() => unknown)[] = []

let restore: () => void

beforeAll(async () => {
  ses = startSes()
  restore = setAwsCredentials()
  clock = testClock()
  world = await openWorld({ clock, instance: { hostname, spfInclude: undefined, returnPath: 'ours' } })
  tenant = await newTenant(world.use.db)
}, 60_000)

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  ses.response = null
  await world.use.db.deleteFrom('domains').execute()
})

afterAll(async () => {
  await world.close()
  ses.close()
  restore()
})

const log = pino({ level: 'silent' })

/** What a process does that is started with a relay. */
const bySmarthost = (): RecheckDeps => ({ ...world.use, log, longestWaitMs: 3_600_000, rotateDays: 0 })

/** What a process does that is started with SES. */
function bySes(region = 'eu-west-1'): RecheckDeps {
  const options = { region, configurationSet: 'mail', perSecond: null, receivesEvents: true }
  const provider: Provider = sesProvider({ ...options, endpoint: ses.url })
  ends.push(() => provider.close())
  const instance = { hostname, spfInclude: undefined, returnPath: 'theirs' } as const
  return { ...bySmarthost(), instance, identities: provider.identities }
}

const start = (deps: RecheckDeps) => suspendUnenrolledDomains({ ...deps, identities: deps.identities })
const read = ({ id }: DomainJson) => getDomain(world.use, tenant.owner, id)
const ofProvider = ({ dns_records }: DomainJson) => dns_records.filter(each => each.type === 'CNAME')

/** Looks at all domains that are due, as the rounds do; later by so much. */
async function look(deps: RecheckDeps, laterMs = 0): Promise<void> {
  clock.forward(laterMs)
  await recheckDueDomains(deps)
}

let names = 0

/** A domain that sends by the relay. */
async function readyDomain(): Promise<DomainJson> {
  const domain = await ownedDomain(world, tenant, `shop${++names}.example`)
  publishAt(world.dns, ...domain.dns_records)
  const ready = await checkDomain(bySmarthost(), tenant.owner, domain.id)
  expect(ready.ready_to_send).toBe(true)
  return ready
}

/** Enrolled, published, and seen by SES. */
async function moved(deps: RecheckDeps, domain: DomainJson): Promise<void> {
  await look(deps)
  const wanted = await read(domain)
  expect(ofProvider(wanted)).toHaveLength(3)
  publishAt(world.dns, ...ofProvider(wanted))
  const identity = ses.identities.get(domain.domain)
  if (identity) identity.isVerified = true
  expect((await checkDomain(deps, tenant.owner, domain.id)).ready_to_send).toBe(true)
}

test('from the start on with SES no domain is ready that SES does not know, whoever asks', async () => {
  const domain = await readyDomain()
  const deps = bySes()
  await start(deps)
  expect(await read(domain)).toMatchObject({
    status: 'pending',
    ready_to_send: false,
    provider_error: expect.stringContaining('not enrolled with Amazon SES'),
  })
  // All that is published is seen, and is not enough.
  expect(await checkDomain(deps, tenant.owner, domain.id)).toMatchObject({ status: 'pending', ready_to_send: false })
  expect(ses.identities.has(domain.domain)).toBe(false)
})

test('it is enrolled without anyone asking, and ready once SES has seen its records', async () => {
  const domain = await readyDomain()
  const deps = bySes()
  await start(deps)
  await look(deps)
  const enrolled = await read(domain)
  expect(enrolled).not.toHaveProperty('provider_error')
  expect([ses.identities.has(domain.domain), ofProvider(enrolled).length, enrolled.ready_to_send]).toEqual([
    true,
    3,
    false,
  ])
  const back = enrolled.dns_records.filter(each => each.purpose === 'return_path' && each.type === 'MX')
  expect(back.map(each => each.value)).toEqual(['feedback-smtp.eu-west-1.amazonses.com'])
  await moved(deps, domain)
})

test('while SES is away it is not ready, and says why; it is enrolled later', async () => {
  const domain = await readyDomain()
  const deps = bySes()
  ses.response = { status: 429, error: 'TooManyRequestsException', body: { message: 'Rate exceeded' } }
  await start(deps)
  for (let time = 0; time < 4; time++) await look(deps, 3_700_000)
  expect(await read(domain)).toMatchObject({
    ready_to_send: false,
    provider_error: expect.stringContaining('Rate exceeded'),
  })
  ses.response = null
  await look(deps, 3_700_000)
  await moved(deps, domain)
})

test('a start with the same provider changes nothing', async () => {
  const domain = await readyDomain()
  const deps = bySes()
  await start(deps)
  await moved(deps, domain)
  const before = await read(domain)
  const plans = () => world.use.db.selectFrom('domains').select(['id', 'next_check_at']).execute()
  const planned = await plans()
  clock.forward(1000)
  await start(deps)
  expect([await read(domain), await plans()]).toEqual([before, planned])
})

test('what one region of SES knows another does not', async () => {
  const domain = await readyDomain()
  await start(bySes())
  await moved(bySes(), domain)
  await start(bySes('us-east-2'))
  expect((await read(domain)).ready_to_send).toBe(false)
})

test('back with the relay nothing of SES is wanted any more, and the domain sends all the while', async () => {
  const domain = await readyDomain()
  const deps = bySes()
  await start(deps)
  await moved(deps, domain)
  const keys = ofProvider(await read(domain)).map(each => each.name)
  await start(bySmarthost())
  expect((await read(domain)).ready_to_send).toBe(true)
  await look(bySmarthost())
  const after = await read(domain)
  expect([ofProvider(after), after.ready_to_send]).toEqual([[], true])
  const back = after.dns_records.filter(each => each.purpose === 'return_path' && each.type === 'MX')
  expect(back.map(each => each.value)).toEqual([hostname])
  for (const name of keys) world.dns.zone[name] = {}
  for (let time = 0; time < 4; time++) await look(bySmarthost(), 3_700_000)
  expect((await read(domain)).ready_to_send).toBe(true)
})

test('a domain whose enrolment failed is not ready because its other records are there', async () => {
  const deps = bySes()
  ses.response = { status: 403, error: 'AccessDeniedException', body: { message: 'not authorized' } }
  const domain = await ownedDomain({ ...world, use: deps }, tenant, 'new.example')
  publishAt(world.dns, ...domain.dns_records)
  const checked = await checkDomain(deps, tenant.owner, domain.id)
  expect([checked.ready_to_send, checked.dns_records.every(each => each.status === 'verified')]).toEqual([false, true])
})

test('what is left at SES and in the zone is told when a domain is deleted', async () => {
  const deps = bySes()
  const domain = await ownedDomain({ ...world, use: deps }, tenant, 'gone.example')
  const { warning } = await removeDomain(deps, tenant.owner, domain.id, () => Promise.resolve([]))
  for (const { name } of ofProvider(domain)) expect(warning).toContain(name)
  expect(warning).toContain('Amazon SES')
  expect(warning).toContain('mr-bounces.gone.example')
  const plain = await ownedDomain(world, tenant, 'plain.example')
  const removed = await removeDomain(world.use, tenant.owner, plain.id, () => Promise.resolve([]))
  expect(removed.warning).not.toContain('CNAME')
})

test('the migration knows the domains that SES knew before', async () => {
  const deps = bySes('eu-west-1')
  const domain = await ownedDomain({ ...world, use: deps }, tenant, 'old.example')
  const other = await ownedDomain(world, tenant, 'by-relay.example')
  const places = () => world.use.db.selectFrom('domains').select(['id', 'enrolled_with']).orderBy('id').execute()
  const before = await places()
  await world.use.db.updateTable('domains').set({ enrolled_with: null }).execute()
  await up(world.use.db as never)
  expect(await places()).toEqual(before)
  expect(new Map(before.map(each => [String(each.id), each.enrolled_with]))).toEqual(
    new Map([
      [domain.id, 'ses eu-west-1'],
      [other.id, null],
    ]),
  )
})
