import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import pino from 'pino'
import { millisecondsOf, plusMs } from '../../../src/base/clock.ts'
import { startJob } from '../../../src/base/concurrency/background-job.ts'
import type { Id } from '../../../src/base/ids.ts'
import { checkDomain, getDomain, removeDomain } from '../../../src/domains/domains.ts'
import { createMailbox } from '../../../src/domains/mailboxes/mailboxes.ts'
import { claimReceiving } from '../../../src/domains/receiving-claim.ts'
import { type RecheckDeps, recheckDueDomains, recheckRound } from '../../../src/domains/recheck/recheck.ts'
import { updateNextCheck } from '../../../src/domains/recheck/table.ts'
import type { DomainJson } from '../../../src/domains/schema.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { openSending } from '../../../src/sending/accept/open-sending.ts'
import { endBeforeSubmission } from '../../../src/sending/relay/outcome.ts'
import { send } from '../../../src/sending/send.ts'
import { claimOldest } from '../../harness/claim.ts'
import { type TestClock, testClock } from '../../harness/http-server.ts'
import { until } from '../../harness/until.ts'
import {
  breakName,
  createTestOrganization,
  type DomainsFixture,
  openDomainsFixture,
  ownedDomain,
  publishAt,
  refusalOf,
  type TestOrganization,
} from '../fixtures.ts'

let fixture: DomainsFixture
let organization: TestOrganization
let clock: TestClock
let deps: RecheckDeps

const longestWaitMs = 3_600_000

beforeAll(async () => {
  clock = testClock()
  fixture = await openDomainsFixture({ clock })
  organization = await createTestOrganization(fixture.deps.db)
  deps = { ...fixture.deps, log: pino({ level: 'silent' }), longestWaitMs, rotateDays: 0 }
})
afterAll(() => fixture.close())

const read = (id: string) => getDomain(deps, organization.tenant, id)
const rowOf = (id: string) =>
  deps.db
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', id as Id<'dom'>)
    .executeTakeFirstOrThrow()

/** Rechecks this domain now, `times` times. */
async function recheckNow(id: string, times = 1): Promise<DomainJson> {
  for (let time = 0; time < times; time++) {
    await deps.db
      .updateTable('domains')
      .set({ next_check_at: plusMs(clock.now(), longestWaitMs) })
      .execute()
    await updateNextCheck(deps.db, id as Id<'dom'>, clock.now())
    expect(await recheckDueDomains(deps)).toBe(1)
  }
  return read(id)
}

const nameOf = (domain: DomainJson, purpose: string) =>
  domain.dns_records.find(record => record.purpose === purpose)?.name ?? ''

/** A domain that is ready to send. */
async function readyDomain(name: string): Promise<DomainJson> {
  const domain = await ownedDomain(fixture, organization, name)
  publishAt(fixture.dns, ...domain.dns_records)
  expect((await checkDomain(deps, organization.tenant, domain.id)).ready_to_send).toBe(true)
  return domain
}

/** A domain that receives mail here. */
async function liveDomain(name: string): Promise<DomainJson> {
  const domain = await readyDomain(name)
  const { identity, mx } = await claimReceiving(deps, organization.tenant, domain.id)
  publishAt(fixture.dns, ...identity.dns_records, mx.record)
  expect((await claimReceiving(deps, organization.tenant, domain.id)).live).toBe(true)
  return domain
}

test('rechecks make a domain ready to send and to receive without any request', async () => {
  const domain = await ownedDomain(fixture, organization, 'followed.example')
  expect(await recheckNow(domain.id)).toMatchObject({ status: 'pending', ready_to_send: false })
  publishAt(fixture.dns, ...domain.dns_records)
  expect(await recheckNow(domain.id)).toMatchObject({ status: 'verified', ready_to_send: true })
  const { identity, mx } = await claimReceiving(deps, organization.tenant, domain.id)
  publishAt(fixture.dns, ...identity.dns_records)
  expect((await recheckNow(domain.id)).receiving).toMatchObject({ live: false, next_step: 'mx' })
  publishAt(fixture.dns, mx.record)
  expect((await recheckNow(domain.id)).receiving.live).toBe(true)
})

test('a domain with mailboxes gets its receiving claim once its ownership is verified', async () => {
  const domain = await ownedDomain(fixture, organization, 'waiting.example')
  const name = '_mailroom.waiting.example'
  const { TXT = [] } = fixture.dns.zone[name] ?? {}
  delete fixture.dns.zone[name]
  const { receiving } = await createMailbox(deps, organization.tenant, { domainId: domain.id, localPart: null })
  expect(receiving.next_step).toBe('ownership')
  fixture.dns.zone[name] = { TXT }
  const { receiving: after } = await recheckNow(domain.id)
  expect(after).toMatchObject({ next_step: 'identity', identity: { dns_records: [{ status: 'pending' }] } })
})

describe('a record that vanishes', () => {
  test('counts as lost at the third recheck, and sends are refused from then on', async () => {
    const domain = await readyDomain('vanishing.example')
    const scheduled = await accept('vanishing.example', 60_000)
    delete fixture.dns.zone[nameOf(domain, 'dkim')]
    expect(await recheckNow(domain.id)).toMatchObject({ status: 'verified', ready_to_send: true })
    expect(await recheckNow(domain.id)).toMatchObject({ status: 'verified', ready_to_send: true })
    expect(await recheckNow(domain.id)).toMatchObject({ status: 'failed', ready_to_send: false })
    expect(await refusalOf(accept('vanishing.example', 0))).toBe('domain_not_verified')
    expect(await runDueEmail(scheduled.id)).toMatchObject({ type: 'delayed', extra: { reason: 'domain_not_verified' } })
    publishAt(fixture.dns, ...domain.dns_records.filter(record => record.purpose === 'dkim'))
    expect(await recheckNow(domain.id)).toMatchObject({ status: 'verified', ready_to_send: true })
    await accept('vanishing.example', 0)
  })

  test('and is back at the next recheck does not count as lost', async () => {
    const domain = await readyDomain('flapping.example')
    const name = nameOf(domain, 'spf')
    const { TXT = [] } = fixture.dns.zone[name] ?? {}
    for (let time = 0; time < 4; time++) {
      delete fixture.dns.zone[name]
      expect((await recheckNow(domain.id)).ready_to_send).toBe(true)
      fixture.dns.zone[name] = { TXT }
      expect((await recheckNow(domain.id)).ready_to_send).toBe(true)
    }
  })

  test('counts as lost at once when a check is requested', async () => {
    const domain = await readyDomain('asked.example')
    delete fixture.dns.zone[nameOf(domain, 'spf')]
    expect(await checkDomain(deps, organization.tenant, domain.id)).toMatchObject({
      status: 'failed',
      ready_to_send: false,
    })
  })

  test('and proved ownership stops no mail: that is only shown', async () => {
    const domain = await liveDomain('disowned.example')
    const name = '_mailroom.disowned.example'
    const { TXT = [] } = fixture.dns.zone[name] ?? {}
    delete fixture.dns.zone[name]
    expect(await recheckNow(domain.id, 5)).toMatchObject({
      ownership_verified: false,
      status: 'verified',
      ready_to_send: true,
      receiving: { live: true },
    })
    await accept('disowned.example', 0)
    fixture.dns.zone[name] = { TXT }
    expect(await recheckNow(domain.id)).toMatchObject({ ownership_verified: true, ready_to_send: true })
  })

  test('and proved ownership keeps the receiving identity from becoming verified until it is back', async () => {
    const domain = await ownedDomain(fixture, organization, 'halfway.example')
    const { identity, mx } = await claimReceiving(deps, organization.tenant, domain.id)
    publishAt(fixture.dns, ...identity.dns_records, mx.record)
    const name = '_mailroom.halfway.example'
    const { TXT = [] } = fixture.dns.zone[name] ?? {}
    delete fixture.dns.zone[name]
    expect((await recheckNow(domain.id)).receiving).toMatchObject({ live: false, next_step: 'ownership' })
    fixture.dns.zone[name] = { TXT }
    expect((await recheckNow(domain.id)).receiving).toMatchObject({ live: true })
  })

  test('and was the MX record is reported at the third recheck; the identity stays verified without its record', async () => {
    const domain = await liveDomain('moved.example')
    delete fixture.dns.zone['_mailroom-in.moved.example']
    fixture.dns.zone['moved.example'] = { TXT: fixture.dns.zone['moved.example']?.TXT ?? [], MX: ['10 other.example'] }
    expect((await recheckNow(domain.id, 2)).receiving.live).toBe(true)
    expect((await recheckNow(domain.id)).receiving).toMatchObject({ live: false, next_step: 'mx' })
    publishAt(fixture.dns, { type: 'MX', name: 'moved.example', value: 'mx.mailroom.example', priority: 20 })
    expect((await recheckNow(domain.id)).receiving.live).toBe(true)
  })
})

describe('while DNS look-ups fail', () => {
  test('nothing is lost, however long it lasts', async () => {
    const domain = await liveDomain('dark.example')
    const names = ['dark.example', '_mailroom.dark.example', '_mailroom-in.dark.example', nameOf(domain, 'dkim')]
    for (const name of names) breakName(fixture.dns, name)
    const after = await recheckNow(domain.id, 8)
    expect(after).toMatchObject({ status: 'verified', ready_to_send: true, ownership_verified: true })
    expect(after.receiving.live).toBe(true)
    expect(after.dns_records.find(record => record.purpose === 'dkim')?.status).toBe('unknown')
  })

  test('a recheck neither adds to nor resets the misses of a record', async () => {
    const domain = await readyDomain('dusk.example')
    const name = nameOf(domain, 'dkim')
    delete fixture.dns.zone[name]
    await recheckNow(domain.id, 2)
    breakName(fixture.dns, name)
    expect((await recheckNow(domain.id, 3)).ready_to_send).toBe(true)
    breakName(fixture.dns, name, false)
    delete fixture.dns.zone[name]
    expect(await recheckNow(domain.id)).toMatchObject({ status: 'failed' })
  })
})

describe('the recheck job', () => {
  test('checks a domain less often while nothing changes, down to the longest wait, and soon again after a change', async () => {
    const domain = await readyDomain('quiet.example')
    const waits: number[] = []
    const wait = async () => {
      const row = await rowOf(domain.id)
      return (millisecondsOf(row.next_check_at) - millisecondsOf(clock.now())) / 60_000
    }
    await recheckNow(domain.id)
    for (let time = 0; time < 8; time++) {
      clock.forward(longestWaitMs * 1.2)
      for (let count = 1; count > 0; count = await recheckDueDomains(deps));
      waits.push(await wait())
    }
    for (const [i, minutes] of [4, 8, 16, 32, 60, 60, 60, 60].entries()) {
      expect(waits[i]).toBeGreaterThan(minutes * 0.85)
      expect(waits[i]).toBeLessThan(minutes * 1.15)
    }
    delete fixture.dns.zone[nameOf(domain, 'dkim')]
    clock.forward(longestWaitMs * 1.2)
    for (let count = 1; count > 0; count = await recheckDueDomains(deps));
    expect(await wait()).toBeLessThan(1.2)
  })

  test('checks each domain once when several processes run it', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `shared${i}.example`)
    for (const name of names) await ownedDomain(fixture, organization, name)
    for (let count = 1; count > 0; count = await recheckDueDomains(deps));
    fixture.dns.questions.length = 0
    await deps.db.updateTable('domains').set({ next_check_at: clock.now() }).where('domain', 'in', names).execute()
    const processes = [1, 2, 3].map(() =>
      startJob({ name: 'domain-recheck', intervalMs: 5000, log: deps.log }, signal => recheckRound(deps, signal)),
    )
    const due = () => deps.db.selectFrom('domains').select('id').where('next_check_at', '<=', clock.now()).execute()
    await until(async () => (await due()).length === 0)
    await Promise.all(processes.map(process => process.stop()))
    // The resolver looks ownership up twice.
    expect(names.map(name => fixture.dns.questionCount(`_mailroom.${name}`))).toEqual(names.map(() => 2))
  })

  test('takes over the domains of a process that died when its lease expires', async () => {
    const domain = await ownedDomain(fixture, organization, 'orphan.example')
    for (let count = 1; count > 0; count = await recheckDueDomains(deps));
    await updateNextCheck(deps.db, domain.id as Id<'dom'>, clock.now())
    const dying = { ...deps, resolver: { resolve: () => new Promise<never>(() => undefined) } }
    void recheckDueDomains(dying)
    await until(async () => (await rowOf(domain.id)).next_check_at > clock.now())
    expect(await recheckDueDomains(deps)).toBe(0)
    clock.forward(5 * 60_000)
    publishAt(fixture.dns, ...domain.dns_records)
    for (let count = 1; count > 0; count = await recheckDueDomains(deps));
    expect((await read(domain.id)).ready_to_send).toBe(true)
  })

  test('skips a domain that was deleted meanwhile, and goes on after one that fails', async () => {
    const [deleted, remaining] = [
      await ownedDomain(fixture, organization, 'gone.example'),
      await ownedDomain(fixture, organization, 'there.example'),
    ]
    for (let count = 1; count > 0; count = await recheckDueDomains(deps));
    publishAt(fixture.dns, ...remaining.dns_records)
    for (const { id } of [deleted, remaining]) await updateNextCheck(deps.db, id as Id<'dom'>, clock.now())
    const deleting: RecheckDeps = {
      ...deps,
      resolver: {
        resolve: async (name, type, question) => {
          if (name.endsWith('gone.example'))
            await refusalOf(removeDomain(deps, organization.tenant, deleted.id, async () => []))
          return deps.resolver.resolve(name, type, question)
        },
      },
    }
    expect(await recheckDueDomains(deleting)).toBe(2)
    expect((await read(remaining.id)).ready_to_send).toBe(true)
  })
})

/** Sends from the domain as the API does; scheduled if `afterMs` is not 0. */
function accept(domain: string, afterMs: number) {
  const sending = openSending({
    db: deps.db,
    blobs: mysqlBlobs(deps.db, clock),
    clock,
    provider: 'sandbox',
    publicUrl: 'http://127.0.0.1',
    wake: () => undefined,
  })
  const scheduledAt = afterMs === 0 ? {} : { scheduled_at: `${plusMs(clock.now(), afterMs).replace(' ', 'T')}Z` }
  const fields = { from: `hello@${domain}`, to: 'bob@b.example', subject: 'Hello', text: 'Hello', ...scheduledAt }
  const sender = { organizationId: organization.tenant.organizationId, brandId: null, keyId: null }
  return send({ sender, fields }, sending).finally(() => sending.renderer.close())
}

/** Runs the relay's check of a scheduled email that is due. */
async function runDueEmail(emailId: Id<'eml'>) {
  clock.forward(120_000)
  const claimed = await claimOldest(deps.db, { maxRows: 10, leaseMs: 1000, now: clock.now() })
  const mine = claimed.find(claimedRecipient => claimedRecipient.emailId === emailId)
  return mine && endBeforeSubmission(mine, false, clock.now())?.event
}
