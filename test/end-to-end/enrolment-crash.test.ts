import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { systemClock } from '../../src/base/clock.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { toZoneRecord } from '../../src/domains/dns/records.ts'
import { ownershipRecord } from '../../src/domains/ownership.ts'
import { localZone } from '../../src/ports/dns-zone/local/local.ts'
import { amount } from '../harness/amount.ts'
import { runCommand } from '../harness/cli.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { fetchValidated } from '../harness/openapi-validation.ts'
import { until } from '../harness/until.ts'

let mailroom: Mailroom
let domains = 0
const secretKey = randomBytes(32).toString('base64')

beforeAll(async () => {
  mailroom = await startMailroom({ MAILROOM_SECRET_KEY: secretKey })
}, 60_000)
afterAll(() => mailroom?.stop(), 60_000)

/** A name below .test whose ownership the organization has proven. */
async function ownName(): Promise<string> {
  const name = `crash${++domains}.test`
  const record = toZoneRecord(ownershipRecord(mailroom.demo.organization_id as Id<'org'>, name))
  await (await localZone(mailroom.database.db, systemClock).findZone(name))?.create(record, null)
  return name
}

function post(path: string, body: object, key?: string) {
  const headers = {
    authorization: `Bearer ${mailroom.key}`,
    'content-type': 'application/json',
    ...(key !== undefined && { 'idempotency-key': key }),
  }
  return fetchValidated(`${mailroom.http}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

type Write = 'INSERT' | 'UPDATE'

/** Kills the process during a write to a table, and restarts it. */
async function killAt(table: string, write: Write, work: () => Promise<unknown>): Promise<void> {
  const { db } = mailroom.database
  const [reached, lock] = [`reached ${newId('req')}`, `held ${newId('req')}`]
  await db.connection().execute(async holding => {
    await sql`SELECT GET_LOCK(${lock}, 0)`.execute(holding)
    const wait = `SET @reached = GET_LOCK('${reached}', 0), @held = GET_LOCK('${lock}', 60)`
    await sql.raw(`CREATE TRIGGER hang BEFORE ${write} ON ${table} FOR EACH ROW ${wait}`).execute(db)
    try {
      const working = work().catch(() => undefined)
      await untilTaken(reached)
      await mailroom.kill('SIGKILL')
      await working
    } finally {
      await sql`SELECT RELEASE_LOCK(${lock})`.execute(holding)
      await sql.raw('DROP TRIGGER hang').execute(db)
    }
  })
  // As if the leases of the dead process had expired.
  await db.updateTable('idempotency_keys').set({ leased_until: systemClock.now() }).execute()
  await mailroom.restart()
}

async function untilTaken(lock: string): Promise<void> {
  const query = sql<{ readonly by: number | null }>`SELECT IS_USED_LOCK(${lock}) AS \`by\``
  await until(async () => (await query.execute(mailroom.database.db)).rows[0]?.by, {
    what: 'a connection at that write',
  })
}

/** A domain is complete: nothing twice, nothing missing. */
async function expectWhole(name: string): Promise<void> {
  const { db } = mailroom.database
  const { id, status, provider_error } = await db
    .selectFrom('domains')
    .selectAll()
    .where('domain', '=', name)
    .executeTakeFirstOrThrow()
  expect([status, provider_error]).toEqual(['verified', null])
  const keys = await db.selectFrom('dkim_keys').selectAll().where('domain_id', '=', id).execute()
  expect(keys.map(key => [key.state, key.sealed_by === null])).toEqual([['signing', false]])
  const records = await db.selectFrom('domain_records').selectAll().where('domain_id', '=', id).execute()
  expect(records.map(record => `${record.purpose} ${record.type} ${record.status}`).sort()).toEqual([
    'dkim TXT verified',
    'dmarc TXT verified',
    'return_path MX verified',
    'return_path TXT verified',
    'spf TXT verified',
  ])
  const held = await (await localZone(db, systemClock).findZone(name))?.recordsUnder(name)
  expect(
    held?.map(existingRecord => `${existingRecord.type} ${existingRecord.name.replace(/^mr1-[^.]*/, 'key')}`).sort(),
  ).toEqual(
    [
      `MX mr-bounces.${name}`,
      `TXT _dmarc.${name}`,
      `TXT _mailroom.${name}`,
      `TXT key._domainkey.${name}`,
      `TXT mr-bounces.${name}`,
      `TXT ${name}`,
    ].sort(),
  )
}

const writes: readonly (readonly [string, Write])[] = [
  ['domains', 'INSERT'],
  ['dkim_keys', 'INSERT'],
  ['domain_records', 'INSERT'],
  ['local_records', 'INSERT'],
  ['domain_records', 'UPDATE'],
  ['domains', 'UPDATE'],
]

for (const [table, write] of writes)
  test(`killed at ${table}: ${write}, a retry of the request finishes the work`, async () => {
    const name = await ownName()
    const body = { brand_id: mailroom.demo.brand_id, domain: name }
    await killAt(table, write, () => post('/v1/domains', body, `enrol-${name}`))
    const again = await post('/v1/domains', body, `enrol-${name}`)
    expect([again.status, await again.json()]).toMatchObject([201, { domain: name, ready_to_send: true }])
    await expectWhole(name)
  }, 60_000)

const everySecond = writes.filter((_, i) => i % 2 === 0)
for (const [table, write] of amount({ short: everySecond, long: writes }))
  test(`killed at ${table}: ${write}, without an Idempotency-Key a new request finishes it, or says that it exists and provisioning finishes it`, async () => {
    const name = await ownName()
    const body = { brand_id: mailroom.demo.brand_id, domain: name }
    await killAt(table, write, () => post('/v1/domains', body))
    const again = await post('/v1/domains', body)
    if (again.status !== 201) {
      expect(again.status).toBe(409)
      const { json } = await mailroom.api('GET', '/v1/domains')
      const { id } = json.data.find((domain: { domain: string }) => domain.domain === name)
      expect((await post(`/v1/domains/${id}/provision`, {})).status).toBe(200)
    }
    await expectWhole(name)
  }, 60_000)

test('killed during a key rotation, one key signs before and after', async () => {
  const name = await ownName()
  await post('/v1/domains', { brand_id: mailroom.demo.brand_id, domain: name })
  const { db } = mailroom.database
  const { id } = await db.selectFrom('domains').select('id').where('domain', '=', name).executeTakeFirstOrThrow()
  const states = async () =>
    (await db.selectFrom('dkim_keys').select('state').where('domain_id', '=', id).execute()).map(row => row.state)
  const ran = await runCommand(['domain', 'rotate-dkim', name], {
    MAILROOM_DATABASE_URL: mailroom.database.url,
    MAILROOM_SECRET_KEY: secretKey,
  })
  expect([ran.status, ran.err]).toEqual([0, ''])
  await killAt('dkim_keys', 'UPDATE', async () => undefined)
  expect((await states()).sort()).toEqual(['next', 'signing'])
  await db.updateTable('domains').set({ next_check_at: systemClock.now() }).where('id', '=', id).execute()
  await until(async () => !(await states()).includes('next'))
  expect((await states()).sort()).toEqual(['retiring', 'signing'])
}, 60_000)
