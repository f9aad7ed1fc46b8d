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
import { claimDueRows } from '../../../src/sending/relay/outbox.ts'
import { endBeforeSubmission } from '../../../src/sending/relay/outcome.ts'
import { send } from '../../../src/sending/send.ts'
import { type TestClock, testClock } from '../../harness/http-server.ts'
import {
  breakName,
  newTenant,
  openWorld,
  ownedDomain,
  publishAt,
  refusalOf,
  type TestTenant,
  type World,
} from '../fixtures.ts'

let world: World
let tenant: TestTenant
let clock: TestClock
let deps: RecheckDeps

const longestWaitMs = 3_600_000

beforeAll(async () => {
  clock = testClock()
  world = await openWorld({ clock })
  tenant = await newTenant(world.use.db)
  deps = { ...world.use, log: pino({ level: 'silent' }), longestWaitMs, rotateDays: 0 }
})
afterAll(() => world.close())

const read = (id: string) => getDomain(deps, tenant.owner, id)
const rowOf = (id: string) =>
  deps.db
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', id as Id<'dom'>)
    .executeTakeFirstOrThrow()

/** Looks at this domain now as the rounds do, so many times. */
async function look(id: string, times = 1): Promise<DomainJson> {
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
  domain.dns_records.find(each => each.purpose === purpose)?.name ?? ''

/** A domain that is ready to send. */
async function readyDomain(name: string): Promise<DomainJson> {
  const domain = await ownedDomain(world, tenant, name)
  publishAt(world.dns, ...domain.dns_records)
  expect((await checkDomain(deps, tenant.owner, domain.id)).ready_to_send).toBe(true)
  return domain
}

/** A domain whose mail comes here. */
async function liveDomain(name: string): Promise<DomainJson> {
  const domain = await readyDomain(name)
  const { identity, mx } = await claimReceiving(deps, tenant.owner, domain.id)
  publishAt(world.dns, ...identity.dns_records, mx.record)
  expect((await claimReceiving(deps, tenant.owner, domain.id)).live).toBe(true)
  return domain
}

test('a domain becomes ready to send, and its mail comes in, without anyone asking', async () => {
  const domain = await ownedDomain(world, tenant, 'followed.example')
  expect(await look(domain.id)).toMatchObject({ status: 'pending', ready_to_send: false })
  publishAt(world.dns, ...domain.dns_records)
  expect(await look(domain.id)).toMatchObject({ status: 'verified', ready_to_send: true })
  const { identity, mx } = await claimReceiving(deps, tenant.owner, domain.id)
  publishAt(world.dns, ...identity.dns_records)
  expect((await look(domain.id)).receiving).toMatchObject({ live: false, next_step: 'mx' })
  publishAt(world.dns, mx.record)
  expect((await look(domain.id)).receiving.live).toBe(true)
})

test('a domain with mailboxes claims its mail once its ownership is proven', async () => {
  const domain = await ownedDomain(world, tenant, 'waiting.example')
  const name = '_mailroom.waiting.example'
  const { TXT = [] } = world.dns.zone[name] ?? {}
  delete world.dns.zone[name]
  const { receiving } = await createMailbox(deps, tenant.owner, { domainId: domain.id, localPart: null })
  expect(receiving.next_step).toBe('ownership')
  world.dns.zone[name] = { TXT }
  const { receiving: after } = await look(domain.id)
  expect(after).toMatchObject({ next_step: 'identity', identity: { dns_records: [{ status: 'pending' }] } })
})

describe('a record that vanishes', () => {
  test('is believed at the third look, not before, and sends are refused from then on', async () => {
    const domain = await readyDomain('vanishing.example')
    const scheduled = await accept('vanishing.example', 60_000)
    delete world.dns.zone[nameOf(domain, 'dkim')]
    expect(await look(domain.id)).toMatchObject({ status: 'verified', ready_to_send: true })
    expect(await look(domain.id)).toMatchObject({ status: 'verified', ready_to_send: true })
    expect(await look(domain.id)).toMatchObject({ status: 'failed', ready_to_send: false })
    expect(await refusalOf(accept('vanishing.example', 0))).toBe('domain_not_verified')
    expect(await endOf(scheduled.id)).toMatchObject({ type: 'failed', extra: { reason: 'domain_not_verified' } })
    publishAt(world.dns, ...domain.dns_records.filter(each => each.purpose === 'dkim'))
    expect(await look(domain.id)).toMatchObject({ status: 'verified', ready_to_send: true })
    await accept('vanishing.example', 0)
  })

  test('and is back at the next look was never away', async () => {
    const domain = await readyDomain('flapping.example')
    const name = nameOf(domain, 'spf')
    const { TXT = [] } = world.dns.zone[name] ?? {}
    for (let time = 0; time < 4; time++) {
      delete world.dns.zone[name]
      expect((await look(domain.id)).ready_to_send).toBe(true)
      world.dns.zone[name] = { TXT }
      expect((await look(domain.id)).ready_to_send).toBe(true)
    }
  })

  test('is believed at once where somebody asks', async () => {
    const domain = await readyDomain('asked.example')
    delete world.dns.zone[nameOf(domain, 'spf')]
    expect(await checkDomain(deps, tenant.owner, domain.id)).toMatchObject({ status: 'failed', ready_to_send: false })
  })

  test('as proof of ownership ends sending, and leaves the claim and its identity', async () => {
    const domain = await liveDomain('disowned.example')
    delete world.dns.zone['_mailroom.disowned.example']
    expect(await look(domain.id, 2)).toMatchObject({ ownership_verified: true, ready_to_send: true })
    expect(await look(domain.id)).toMatchObject({ ownership_verified: false, status: 'failed', ready_to_send: false })
    const kept = await deps.db
      .selectFrom('receiving_claims')
      .selectAll()
      .where('domain_id', '=', domain.id as Id<'dom'>)
    expect(await kept.executeTakeFirstOrThrow()).toMatchObject({ identity_verified: 1 })
  })

  test('as MX says so at the third look; the identity stays verified without its record', async () => {
    const domain = await liveDomain('moved.example')
    delete world.dns.zone['_mailroom-in.moved.example']
    world.dns.zone['moved.example'] = { TXT: world.dns.zone['moved.example']?.TXT ?? [], MX: ['10 other.example'] }
    expect((await look(domain.id, 2)).receiving.live).toBe(true)
    expect((await look(domain.id)).receiving).toMatchObject({ live: false, next_step: 'mx' })
    publishAt(world.dns, { type: 'MX', name: 'moved.example', value: 'mx.mailroom.example', priority: 20 })
    expect((await look(domain.id)).receiving.live).toBe(true)
  })
})

describe('while DNS does not answer', () => {
  test('nothing is taken away, however long that is', async () => {
    const domain = await liveDomain('dark.example')
    const names = ['dark.example', '_mailroom.dark.example', '_mailroom-in.dark.example', nameOf(domain, 'dkim')]
    for (const name of names) breakName(world.dns, name)
    const after = await look(domain.id, 8)
    expect(after).toMatchObject({ status: 'verified', ready_to_send: true, ownership_verified: true })
    expect(after.receiving.live).toBe(true)
    expect(after.dns_records.find(each => each.purpose === 'dkim')?.status).toBe('unknown')
  })

  test('a look counts neither for nor against a record that was not found before', async () => {
    const domain = await readyDomain('dusk.example')
    const name = nameOf(domain, 'dkim')
    delete world.dns.zone[name]
    await look(domain.id, 2)
    breakName(world.dns, name)
    expect((await look(domain.id, 3)).ready_to_send).toBe(true)
    breakName(world.dns, name, false)
    delete world.dns.zone[name]
    expect(await look(domain.id)).toMatchObject({ status: 'failed' })
  })
})

describe('the rounds', () => {
  test('look less often while nothing changes, down to the longest wait, and soon again once something does', async () => {
    const domain = await readyDomain('quiet.example')
    const waits: number[] = []
    const wait = async () => {
      const row = await rowOf(domain.id)
      return (millisecondsOf(row.next_check_at) - millisecondsOf(clock.now())) / 60_000
    }
    await look(domain.id)
    for (let time = 0; time < 8; time++) {
      clock.forward(longestWaitMs * 1.2)
      for (let others = 1; others > 0; others = await recheckDueDomains(deps));
      waits.push(await wait())
    }
    for (const [i, minutes] of [4, 8, 16, 32, 60, 60, 60, 60].entries()) {
      expect(waits[i]).toBeGreaterThan(minutes * 0.85)
      expect(waits[i]).toBeLessThan(minutes * 1.15)
    }
    delete world.dns.zone[nameOf(domain, 'dkim')]
    clock.forward(longestWaitMs * 1.2)
    for (let others = 1; others > 0; others = await recheckDueDomains(deps));
    expect(await wait()).toBeLessThan(1.2)
  })

  test('of several processes look at each domain once', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `shared${i}.example`)
    for (const name of names) await ownedDomain(world, tenant, name)
    for (let others = 1; others > 0; others = await recheckDueDomains(deps));
    world.dns.questions.length = 0
    await deps.db.updateTable('domains').set({ next_check_at: clock.now() }).where('domain', 'in', names).execute()
    const processes = [1, 2, 3].map(() =>
      startJob({ name: 'domain-recheck', intervalMs: 5000, log: deps.log }, signal => recheckRound(deps, signal)),
    )
    const due = () => deps.db.selectFrom('domains').select('id').where('next_check_at', '<=', clock.now()).execute()
    for (const end = Date.now() + 10_000; (await due()).length > 0 && Date.now() < end; ) await Bun.sleep(10)
    await Promise.all(processes.map(process => process.stop()))
    // A proof is asked for twice.
    expect(names.map(name => world.dns.questionCount(`_mailroom.${name}`))).toEqual(names.map(() => 2))
  })

  test('of a process that died are taken over when its lease runs out', async () => {
    const domain = await ownedDomain(world, tenant, 'orphan.example')
    for (let others = 1; others > 0; others = await recheckDueDomains(deps));
    await updateNextCheck(deps.db, domain.id as Id<'dom'>, clock.now())
    const dying = { ...deps, resolver: { resolve: () => new Promise<never>(() => undefined) } }
    void recheckDueDomains(dying)
    for (const end = Date.now() + 5000; (await rowOf(domain.id)).next_check_at <= clock.now() && Date.now() < end; )
      await Bun.sleep(5)
    expect(await recheckDueDomains(deps)).toBe(0)
    clock.forward(5 * 60_000)
    publishAt(world.dns, ...domain.dns_records)
    for (let others = 1; others > 0; others = await recheckDueDomains(deps));
    expect((await read(domain.id)).ready_to_send).toBe(true)
  })

  test('pass over a domain that was deleted meanwhile, and none that fails holds up another', async () => {
    const [gone, there] = [
      await ownedDomain(world, tenant, 'gone.example'),
      await ownedDomain(world, tenant, 'there.example'),
    ]
    for (let others = 1; others > 0; others = await recheckDueDomains(deps));
    publishAt(world.dns, ...there.dns_records)
    for (const { id } of [gone, there]) await updateNextCheck(deps.db, id as Id<'dom'>, clock.now())
    const deleting: RecheckDeps = {
      ...deps,
      resolver: {
        resolve: async (name, type, question) => {
          if (name.endsWith('gone.example')) await refusalOf(removeDomain(deps, tenant.owner, gone.id, async () => []))
          return deps.resolver.resolve(name, type, question)
        },
      },
    }
    expect(await recheckDueDomains(deleting)).toBe(2)
    expect((await read(there.id)).ready_to_send).toBe(true)
  })
})

/** Sends from the domain as the API does; scheduled where `afterMs` is not 0. */
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
  const sender = { organizationId: tenant.owner.organizationId, brandId: null, keyId: null }
  return send({ sender, fields }, sending).finally(() => sending.renderer.close())
}

/** What the relay does with a scheduled email once it is due. */
async function endOf(emailId: Id<'eml'>) {
  clock.forward(120_000)
  const options = { maxRows: 10, leaseMs: 1000, now: clock.now(), expiredOnly: false }
  const claimed = await claimDueRows(deps.db, options, async () => [])
  const mine = claimed.find(claimedRecipient => claimedRecipient.emailId === emailId)
  return mine && endBeforeSubmission(mine, false, clock.now())?.event
}
