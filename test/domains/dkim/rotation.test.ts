import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPublicKey, randomBytes } from 'node:crypto'
import pino from 'pino'
import type { Id } from '../../../src/base/ids.ts'
import { loadOrCreateSecrets } from '../../../src/base/secrets/secret-keys.ts'
import { secretsOf } from '../../../src/base/secrets/secrets.ts'
import { startRotation } from '../../../src/domains/dkim/rotation.ts'
import { toZoneRecord } from '../../../src/domains/dns/records.ts'
import { checkDomain, createDomain, getDomain, provisionDomain } from '../../../src/domains/domains.ts'
import { ownershipRecord } from '../../../src/domains/ownership.ts'
import { type RecheckDeps, recheckDueDomains } from '../../../src/domains/recheck/recheck.ts'
import { updateNextCheck } from '../../../src/domains/recheck/table.ts'
import type { DnsRecordJson, DomainJson } from '../../../src/domains/schema.ts'
import { selectDomain } from '../../../src/domains/table.ts'
import { localZone } from '../../../src/ports/dns-zone/local/local.ts'
import { localResolver } from '../../../src/ports/resolver/local/local.ts'
import { runCommand } from '../../harness/cli.ts'
import { type TestClock, testClock } from '../../harness/http-server.ts'
import { signingKeys } from '../../harness/secrets.ts'
import { newTenant, openWorld, ownedDomain, publishAt, type TestTenant, type World } from '../fixtures.ts'

const dayMs = 24 * 3_600_000

let world: World
let tenant: TestTenant
let clock: TestClock
let deps: RecheckDeps

beforeAll(async () => {
  clock = testClock()
  world = await openWorld({ clock })
  tenant = await newTenant(world.use.db)
  const { db, resolver } = world.use
  deps = {
    ...world.use,
    dnsProvider: localZone(db, clock),
    resolver: localResolver(db, resolver),
    log: pino({ level: 'silent' }),
    longestWaitMs: 3_600_000,
    rotateDays: 0,
  }
})
afterAll(() => world.close())

async function look(id: string, how: Partial<RecheckDeps> = {}): Promise<DomainJson> {
  await updateNextCheck(deps.db, id as Id<'dom'>, clock.now())
  for (let looked = 1; looked > 0; looked = await recheckDueDomains({ ...deps, ...how }));
  return getDomain(deps, tenant.owner, id)
}

async function rotate(id: string) {
  const row = await selectDomain(deps.db, tenant.owner.organizationId, id)
  if (!row) throw new Error('no such domain')
  return startRotation(deps, row)
}

const dkimRecords = ({ dns_records }: DomainJson) => dns_records.filter(each => each.purpose === 'dkim')
const selectorOf = ({ name }: DnsRecordJson) => name.split('.')[0] ?? ''
/** What signs for the domain now. */
const signing = async (id: string) => (await signingKeys(deps.db, [id as Id<'dom'>])).get(id as Id<'dom'>) ?? []

/** A domain whose records somebody publishes by hand. */
async function handMade(name: string): Promise<DomainJson> {
  const domain = await ownedDomain(world, tenant, name)
  publishAt(world.dns, ...domain.dns_records)
  return checkDomain(deps, tenant.owner, domain.id)
}

/** A domain whose records Mailroom publishes. */
async function inOurZone(name: string): Promise<DomainJson> {
  const zone = await deps.dnsProvider?.findZone(name)
  await zone?.create(toZoneRecord(ownershipRecord(tenant.owner.organizationId, name)), null)
  return createDomain(deps, tenant.owner, { brandId: tenant.brandId, domain: name, publishDns: true })
}
const held = async (name: string) => (await (await deps.dnsProvider?.findZone(name))?.recordsAt(name)) ?? []

describe('another key', () => {
  test('waits until its record is seen, signs from then on, and the old record goes a week later', async () => {
    const domain = await handMade('rotated.example')
    const [old] = dkimRecords(domain)
    const { selector, isNew } = await rotate(domain.id)
    expect([isNew, selector]).toEqual([true, expect.stringMatching(/^mr1-\d{8}-[0-9a-z]{6}$/)])
    const waiting = await look(domain.id)
    expect(waiting.ready_to_send).toBe(true)
    expect(dkimRecords(waiting)).toMatchObject([
      { name: old?.name, required: true, status: 'verified' },
      { name: `${selector}._domainkey.rotated.example`, required: false, status: 'pending' },
    ])
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([
      selectorOf(old as DnsRecordJson),
    ])

    publishAt(world.dns, ...dkimRecords(waiting).slice(1))
    const switched = await look(domain.id)
    expect(dkimRecords(switched).map(dkimRecord => [selectorOf(dkimRecord), dkimRecord.required])).toEqual([
      [selectorOf(old as DnsRecordJson), false],
      [selector, true],
    ])
    const [key, ...more] = await signing(domain.id)
    expect([key?.selector, more]).toEqual([selector, []])
    const publicKey = createPublicKey(key?.privateKey ?? '').export({ type: 'spki', format: 'der' })
    expect(dkimRecords(switched)[1]?.value).toEndWith(publicKey.toString('base64'))

    clock.forward(6.9 * dayMs)
    expect(dkimRecords(await look(domain.id))).toHaveLength(2)
    clock.forward(0.2 * dayMs)
    expect(dkimRecords(await look(domain.id)).map(selectorOf)).toEqual([selector])
    const kept = deps.db
      .selectFrom('dkim_keys')
      .select('selector')
      .where('domain_id', '=', domain.id as Id<'dom'>)
    expect(await kept.execute()).toEqual([{ selector }])
  })

  test('does not sign as long as another stands at its name', async () => {
    const domain = await handMade('wrong.example')
    const { selector } = await rotate(domain.id)
    const name = `${selector}._domainkey.wrong.example`
    publishAt(world.dns, { type: 'TXT', name, value: 'v=DKIM1; p=AAAA', priority: null })
    expect(dkimRecords(await look(domain.id))[1]).toMatchObject({ status: 'mismatch' })
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).not.toContain(selector)
  })

  test('takes over where the record of the old one vanished', async () => {
    const domain = await handMade('saved.example')
    const { selector } = await rotate(domain.id)
    publishAt(world.dns, ...dkimRecords(await look(domain.id)).slice(1))
    delete world.dns.zone[dkimRecords(domain)[0]?.name ?? '']
    expect(await checkDomain(deps, tenant.owner, domain.id)).toMatchObject({ ready_to_send: false })
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([selector])
    expect(await look(domain.id)).toMatchObject({ ready_to_send: true })
  })

  test('is one, also when asked for twice at once, and provisioning keeps it', async () => {
    const domain = await handMade('once.example')
    const begun = await Promise.all([1, 2, 3].map(() => rotate(domain.id)))
    expect(new Set(begun.map(startedRotation => startedRotation.selector)).size).toBe(1)
    expect(begun.filter(startedRotation => startedRotation.isNew)).toHaveLength(1)
    const provisioned = await provisionDomain(deps, tenant.owner, domain.id, false)
    expect(dkimRecords(provisioned).map(dkimRecord => dkimRecord.required)).toEqual([true, false])
  })

  test('is sealed as the first one is', async () => {
    const rows = await deps.db.selectFrom('dkim_keys').selectAll().where('state', '=', 'next').execute()
    expect(rows.length).toBeGreaterThan(0)
    for (const { sealed_by, private_key } of rows) {
      expect(sealed_by).toBe(deps.secrets.id)
      expect(private_key).not.toContain('PRIVATE')
    }
  })
})

describe('where Mailroom publishes the records', () => {
  test('the new one is published, and the old one taken away, by Mailroom', async () => {
    const domain = await inOurZone('ours.test')
    const [old] = dkimRecords(domain)
    const { selector } = await rotate(domain.id)
    await look(domain.id)
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([selector])
    expect(await held(old?.name ?? '')).toHaveLength(1)
    clock.forward(7.1 * dayMs)
    await look(domain.id)
    expect(await held(old?.name ?? '')).toEqual([])
    expect(await held(`${selector}._domainkey.ours.test`)).toHaveLength(1)
  })

  test('what somebody else put at the old name stays', async () => {
    const domain = await inOurZone('kept.test')
    const [old] = dkimRecords(domain)
    const zone = await deps.dnsProvider?.findZone('kept.test')
    await rotate(domain.id)
    await look(domain.id)
    await zone?.create({ type: 'TXT', name: old?.name ?? '', value: 'a note', priority: null, ttlSeconds: 300 }, null)
    clock.forward(7.1 * dayMs)
    expect(dkimRecords(await look(domain.id))).toHaveLength(1)
    expect((await held(old?.name ?? '')).map(existingRecord => existingRecord.value)).toEqual(['a note'])
  })

  test('a key that is old enough is followed by another, by itself', async () => {
    const domain = await inOurZone('aging.test')
    const [first] = await signing(domain.id)
    clock.forward(29 * dayMs)
    await look(domain.id, { rotateDays: 30 })
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([first?.selector ?? ''])
    clock.forward(2 * dayMs)
    await look(domain.id, { rotateDays: 0 })
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([first?.selector ?? ''])
    await look(domain.id, { rotateDays: 30 })
    await look(domain.id, { rotateDays: 30 })
    const [second, ...more] = await signing(domain.id)
    expect(more).toEqual([])
    expect(second?.selector).not.toBe(first?.selector)
    await look(domain.id, { rotateDays: 30 })
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([second?.selector ?? ''])
  })
})

test('the command makes the key, says where it is to be seen, and needs the secret key of the database', async () => {
  const domain = await handMade('commanded.example')
  const secret = randomBytes(32)
  const given = { secrets: secretsOf([secret]), varFolder: '/nowhere' }
  await loadOrCreateSecrets(deps.db, given, { clock, log: deps.log })
  const settings = { MAILROOM_DATABASE_URL: world.databaseUrl, MAILROOM_SECRET_KEY: secret.toString('base64') }
  const ran = await runCommand(['domain', 'rotate-dkim', 'Commanded.example', '--json'], settings)
  expect([ran.status, ran.err]).toEqual([0, ''])
  const told = JSON.parse(ran.out)
  expect(told).toMatchObject({ domain_id: domain.id, domain: 'commanded.example', is_new: true })
  expect(told.record).toBe(`${told.selector}._domainkey.commanded.example`)
  const again = await runCommand(['domain', 'rotate-dkim', 'commanded.example', '--json'], settings)
  expect(JSON.parse(again.out)).toMatchObject({ selector: told.selector, is_new: false })

  const rotating = (...args: string[]) => runCommand(['domain', 'rotate-dkim', ...args], settings)
  expect(await rotating('nobody.example')).toMatchObject({
    status: 1,
    err: 'mailroom: There is no domain nobody.example.\n',
  })
  expect((await rotating('not a domain')).status).toBe(2)
  const other = { ...settings, MAILROOM_SECRET_KEY: randomBytes(32).toString('base64') }
  const refused = await runCommand(['domain', 'rotate-dkim', 'commanded.example'], other)
  expect([refused.status, refused.err]).toEqual([2, expect.stringContaining('is encrypted with the secret key')])
})
