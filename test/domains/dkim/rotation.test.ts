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
import {
  createTestOrganization,
  type DomainsFixture,
  openDomainsFixture,
  ownedDomain,
  publishAt,
  type TestOrganization,
} from '../fixtures.ts'

const dayMs = 24 * 3_600_000

let fixture: DomainsFixture
let organization: TestOrganization
let clock: TestClock
let deps: RecheckDeps

beforeAll(async () => {
  clock = testClock()
  fixture = await openDomainsFixture({ clock })
  organization = await createTestOrganization(fixture.deps.db)
  const { db, resolver } = fixture.deps
  deps = {
    ...fixture.deps,
    dnsProvider: localZone(db, clock),
    resolver: localResolver(db, resolver),
    log: pino({ level: 'silent' }),
    longestWaitMs: 3_600_000,
    rotateDays: 0,
  }
})
afterAll(() => fixture.close())

async function recheckNow(id: string, how: Partial<RecheckDeps> = {}): Promise<DomainJson> {
  await updateNextCheck(deps.db, id as Id<'dom'>, clock.now())
  for (let looked = 1; looked > 0; looked = await recheckDueDomains({ ...deps, ...how }));
  return getDomain(deps, organization.tenant, id)
}

async function rotate(id: string) {
  const row = await selectDomain(deps.db, organization.tenant.organizationId, id)
  if (!row) throw new Error('no such domain')
  return startRotation(deps, row)
}

const dkimRecords = ({ dns_records }: DomainJson) => dns_records.filter(record => record.purpose === 'dkim')
const selectorOf = ({ name }: DnsRecordJson) => name.split('.')[0] ?? ''
/** The selectors that sign for the domain now. */
const signing = async (id: string) => (await signingKeys(deps.db, [id as Id<'dom'>])).get(id as Id<'dom'>) ?? []

/** A domain whose records are published by hand. */
async function domainPublishedByHand(name: string): Promise<DomainJson> {
  const domain = await ownedDomain(fixture, organization, name)
  publishAt(fixture.dns, ...domain.dns_records)
  return checkDomain(deps, organization.tenant, domain.id)
}

/** A domain whose records Mailroom publishes. */
async function domainInOurZone(name: string): Promise<DomainJson> {
  const zone = await deps.dnsProvider?.findZone(name)
  await zone?.create(toZoneRecord(ownershipRecord(organization.tenant.organizationId, name)), null)
  return createDomain(deps, organization.tenant, { brandId: organization.brandId, domain: name, publishDns: true })
}
const recordsAt = async (name: string) => (await (await deps.dnsProvider?.findZone(name))?.recordsAt(name)) ?? []

describe('the next key', () => {
  test('signs once its record is verified, and the old record is deleted a week later', async () => {
    const domain = await domainPublishedByHand('rotated.example')
    const [old] = dkimRecords(domain)
    const { selector, isNew } = await rotate(domain.id)
    expect([isNew, selector]).toEqual([true, expect.stringMatching(/^mr1-\d{8}-[0-9a-z]{6}$/)])
    const waiting = await recheckNow(domain.id)
    expect(waiting.ready_to_send).toBe(true)
    expect(dkimRecords(waiting)).toMatchObject([
      { name: old?.name, required: true, status: 'verified' },
      { name: `${selector}._domainkey.rotated.example`, required: false, status: 'pending' },
    ])
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([
      selectorOf(old as DnsRecordJson),
    ])

    publishAt(fixture.dns, ...dkimRecords(waiting).slice(1))
    const switched = await recheckNow(domain.id)
    expect(dkimRecords(switched).map(dkimRecord => [selectorOf(dkimRecord), dkimRecord.required])).toEqual([
      [selectorOf(old as DnsRecordJson), false],
      [selector, true],
    ])
    const [key, ...more] = await signing(domain.id)
    expect([key?.selector, more]).toEqual([selector, []])
    const publicKey = createPublicKey(key?.privateKey ?? '').export({ type: 'spki', format: 'der' })
    expect(dkimRecords(switched)[1]?.value).toEndWith(publicKey.toString('base64'))

    clock.forward(6.9 * dayMs)
    expect(dkimRecords(await recheckNow(domain.id))).toHaveLength(2)
    clock.forward(0.2 * dayMs)
    expect(dkimRecords(await recheckNow(domain.id)).map(selectorOf)).toEqual([selector])
    const signingKeysQuery = deps.db
      .selectFrom('dkim_keys')
      .select('selector')
      .where('domain_id', '=', domain.id as Id<'dom'>)
    expect(await signingKeysQuery.execute()).toEqual([{ selector }])
  })

  test('does not sign while its name has another value', async () => {
    const domain = await domainPublishedByHand('wrong.example')
    const { selector } = await rotate(domain.id)
    const name = `${selector}._domainkey.wrong.example`
    publishAt(fixture.dns, { type: 'TXT', name, value: 'v=DKIM1; p=AAAA', priority: null })
    expect(dkimRecords(await recheckNow(domain.id))[1]).toMatchObject({ status: 'mismatch' })
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).not.toContain(selector)
  })

  test('takes over when the record of the old key has vanished', async () => {
    const domain = await domainPublishedByHand('saved.example')
    const { selector } = await rotate(domain.id)
    publishAt(fixture.dns, ...dkimRecords(await recheckNow(domain.id)).slice(1))
    delete fixture.dns.zone[dkimRecords(domain)[0]?.name ?? '']
    expect(await checkDomain(deps, organization.tenant, domain.id)).toMatchObject({ ready_to_send: false })
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([selector])
    expect(await recheckNow(domain.id)).toMatchObject({ ready_to_send: true })
  })

  test('is generated once, also by concurrent rotations, and provisioning keeps it', async () => {
    const domain = await domainPublishedByHand('once.example')
    const begun = await Promise.all([1, 2, 3].map(() => rotate(domain.id)))
    expect(new Set(begun.map(startedRotation => startedRotation.selector)).size).toBe(1)
    expect(begun.filter(startedRotation => startedRotation.isNew)).toHaveLength(1)
    const provisioned = await provisionDomain(deps, organization.tenant, domain.id, false)
    expect(dkimRecords(provisioned).map(dkimRecord => dkimRecord.required)).toEqual([true, false])
  })

  test('is sealed like the first one', async () => {
    const rows = await deps.db.selectFrom('dkim_keys').selectAll().where('state', '=', 'next').execute()
    expect(rows.length).toBeGreaterThan(0)
    for (const { sealed_by, private_key } of rows) {
      expect(sealed_by).toBe(deps.secrets.id)
      expect(private_key).not.toContain('PRIVATE')
    }
  })
})

describe('when Mailroom publishes the records', () => {
  test('Mailroom publishes the new record and removes the old one', async () => {
    const domain = await domainInOurZone('ours.test')
    const [old] = dkimRecords(domain)
    const { selector } = await rotate(domain.id)
    await recheckNow(domain.id)
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([selector])
    expect(await recordsAt(old?.name ?? '')).toHaveLength(1)
    clock.forward(7.1 * dayMs)
    await recheckNow(domain.id)
    expect(await recordsAt(old?.name ?? '')).toEqual([])
    expect(await recordsAt(`${selector}._domainkey.ours.test`)).toHaveLength(1)
  })

  test("someone else's record at the old name stays", async () => {
    const domain = await domainInOurZone('kept.test')
    const [old] = dkimRecords(domain)
    const zone = await deps.dnsProvider?.findZone('kept.test')
    await rotate(domain.id)
    await recheckNow(domain.id)
    await zone?.create({ type: 'TXT', name: old?.name ?? '', value: 'a note', priority: null, ttlSeconds: 300 }, null)
    clock.forward(7.1 * dayMs)
    expect(dkimRecords(await recheckNow(domain.id))).toHaveLength(1)
    expect((await recordsAt(old?.name ?? '')).map(existingRecord => existingRecord.value)).toEqual(['a note'])
  })

  test('a key that is old enough is rotated automatically', async () => {
    const domain = await domainInOurZone('aging.test')
    const [first] = await signing(domain.id)
    clock.forward(29 * dayMs)
    await recheckNow(domain.id, { rotateDays: 30 })
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([first?.selector ?? ''])
    clock.forward(2 * dayMs)
    await recheckNow(domain.id, { rotateDays: 0 })
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([first?.selector ?? ''])
    await recheckNow(domain.id, { rotateDays: 30 })
    await recheckNow(domain.id, { rotateDays: 30 })
    const [second, ...more] = await signing(domain.id)
    expect(more).toEqual([])
    expect(second?.selector).not.toBe(first?.selector)
    await recheckNow(domain.id, { rotateDays: 30 })
    expect((await signing(domain.id)).map(signingKey => signingKey.selector)).toEqual([second?.selector ?? ''])
  })
})

test("the command generates the key, prints its record, and requires the database's secret key", async () => {
  const domain = await domainPublishedByHand('commanded.example')
  const secret = randomBytes(32)
  const options = { secrets: secretsOf([secret]), varFolder: '/nowhere' }
  await loadOrCreateSecrets(deps.db, options, { clock, log: deps.log })
  const settings = { MAILROOM_DATABASE_URL: fixture.databaseUrl, MAILROOM_SECRET_KEY: secret.toString('base64') }
  const result = await runCommand(['domain', 'rotate-dkim', 'Commanded.example', '--json'], settings)
  expect([result.status, result.err]).toEqual([0, ''])
  const output = JSON.parse(result.out)
  expect(output).toMatchObject({ domain_id: domain.id, domain: 'commanded.example', is_new: true })
  expect(output.record).toBe(`${output.selector}._domainkey.commanded.example`)
  const again = await runCommand(['domain', 'rotate-dkim', 'commanded.example', '--json'], settings)
  expect(JSON.parse(again.out)).toMatchObject({ selector: output.selector, is_new: false })

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
