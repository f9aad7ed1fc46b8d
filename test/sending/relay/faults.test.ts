import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { sql } from 'kysely'
import { systemClock } from '../../../src/base/clock.ts'
import { type Database, openDatabase } from '../../../src/base/database/database.ts'
import { migrate } from '../../../src/base/database/migrate.ts'
import { fromJson } from '../../../src/base/database/schema.ts'
import { type PrivateMariadb, startMariadb } from '../../../src/cli/private/mariadb.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { createSendingDomain, insertAcceptedEmails } from '../../harness/accepted-emails.ts'
import { amount } from '../../harness/amount.ts'
import { expireLeases } from '../../harness/claim.ts'
import { makeMemoryFolder } from '../../harness/memory-folder.ts'
import { type RelayProcess, startRelayProcess } from '../../harness/relay-process.ts'
import { headerValues, unstuffed } from '../../harness/relayed-messages.ts'
import { type ScriptedRelay, startScriptedRelay } from '../../harness/scripted-relay.ts'
import { until } from '../../harness/until.ts'

/** Scaled down: 30 s in production. */
const leaseMs = 1000
/** Longer than a lease, and shorter than what another process leaves to one that may be alive: three leases. */
const faultMs = 2000
const connections = 8
const rounds = amount({ short: 2, long: 5 })

/** A server of this file's own, which is stopped in some tests. */
let mariadb: PrivateMariadb
let database: Database
const folder = makeMemoryFolder('mailroom-relay-faults-')
let provider: ScriptedRelay
const processes: RelayProcess[] = []

beforeAll(async () => {
  mariadb = await startMariadb({ folder })
  database = openDatabase(mariadb.url, 8)
  await migrate(database.db)
  provider = await startScriptedRelay()
}, 120_000)
afterEach(async () => {
  for (const running of processes.splice(0)) await running.kill()
  await database.db.deleteFrom('outbox').execute()
  provider.accepted.length = 0
})
afterAll(async () => {
  await provider?.close()
  await database?.close()
  await mariadb?.stop()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

async function start(): Promise<RelayProcess> {
  const started = await startRelayProcess({
    databaseUrl: mariadb.url,
    smarthostUrl: provider.url,
    leaseMs,
    connections,
  })
  processes.push(started)
  return started
}

async function accept(count: number): Promise<void> {
  const from = await createSendingDomain(database.db, systemClock.now())
  const emails = Array.from({ length: count }, (_, i) => ({ to: [`u${i}@d${i % 3}.test`] }))
  await insertAcceptedEmails(database.db, mysqlBlobs(database.db, systemClock), from, systemClock.now(), emails)
}

const isOver = async () => (await database.db.selectFrom('outbox').select('id').limit(1).execute()).length === 0
const whenOver = () => until(isOver, { what: 'the outbox is empty', withinMs: 90_000 })
const messageIdsOf = () => provider.accepted.map(message => headerValues(unstuffed(message), 'Message-ID')[0] ?? '')

/** The Message-IDs that the provider got more than once. */
function copied(): readonly string[] {
  const counts = Map.groupBy(messageIdsOf(), id => id)
  return Array.from(counts).flatMap(([id, copies]) => (copies.length > 1 ? [id] : []))
}

/** The Message-IDs of emails of which an event says that there may be copies. */
async function toldAmbiguous(): Promise<ReadonlySet<string>> {
  const rows = await database.db
    .selectFrom('email_events')
    .innerJoin('emails', 'emails.id', 'email_events.email_id')
    .select(['emails.message_id', 'email_events.extra'])
    .where('email_events.type', '=', 'sent')
    .execute()
  return new Set(rows.filter(row => fromJson(row.extra)['ambiguous']).map(row => `<${row.message_id}>`))
}

async function signalFor(pid: number, ms: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  // The fault lasts that long.
  await Bun.sleep(ms)
  process.kill(pid, 'SIGCONT')
}

/** Runs work on a connection of its own, without a transaction. */
const onConnection = (statements: readonly string[], ms: number) =>
  database.db.connection().execute(async db => {
    for (const statement of statements.slice(0, -1)) await sql.raw(statement).execute(db)
    // The fault lasts that long.
    await Bun.sleep(ms)
    await sql.raw(statements.at(-1) ?? '').execute(db)
  })

const faults: readonly (readonly [string, (relay: RelayProcess, ms: number) => Promise<void>])[] = [
  ['the database is stopped', (_, ms) => signalFor(mariadb.pid, ms)],
  ['the process is paused', (relay, ms) => signalFor(relay.pid, ms)],
  ['the emails are locked', (_, ms) => onConnection(['LOCK TABLES emails WRITE', 'UNLOCK TABLES'], ms)],
  ['the outbox is locked', (_, ms) => onConnection(['LOCK TABLES outbox WRITE', 'UNLOCK TABLES'], ms)],
  [
    'each removal from the queue takes half a second',
    async (_, ms) => {
      await sql.raw('CREATE TRIGGER slow_end BEFORE DELETE ON outbox FOR EACH ROW DO SLEEP(0.5)').execute(database.db)
      await Bun.sleep(ms)
      await sql.raw('DROP TRIGGER slow_end').execute(database.db)
    },
  ],
]

for (const count of [1, 2])
  for (const [name, fault] of faults)
    test(`${count === 1 ? 'one process' : 'two processes'}: no email is submitted twice while ${name} for longer than a lease`, async () => {
      provider.setScript({ dotAfterMs: 150 })
      await accept(40)
      const relay = await start()
      if (count === 2) await start()
      await until(() => provider.accepted.length >= 10, { what: 'it submits' })
      await fault(relay, faultMs)
      await whenOver()
      expect(copied()).toEqual([])
      expect(new Set(messageIdsOf()).size).toBe(40)
    }, 120_000)

test('one process: no email is submitted twice while the database is stopped for many leases', async () => {
  provider.setScript({ dotAfterMs: 150 })
  await accept(40)
  await start()
  await until(() => provider.accepted.length >= 10, { what: 'it submits' })
  await signalFor(mariadb.pid, 8 * leaseMs)
  await whenOver()
  expect(copied()).toEqual([])
}, 120_000)

test('paused for so long that another process takes over, it makes a copy at most of what was in flight, and each is told', async () => {
  // Long enough that the pause comes between the final dot and the reply.
  provider.setScript({ dotAfterMs: 500 })
  await accept(40)
  const relay = await start()
  await until(() => provider.accepted.length >= 4, { what: 'it submits' })
  relay.signal('SIGSTOP')
  await start()
  // Where it was paused within a transaction, its rows stay locked, and there is no copy.
  await until(async () => copied().length > 0 || (await isOver()), { withinMs: 10_000 }).catch(() => undefined)
  relay.signal('SIGCONT')
  await whenOver()
  const copies = copied()
  expect(copies.length).toBeLessThanOrEqual(connections)
  const told = await toldAmbiguous()
  expect(copies.filter(id => !told.has(id))).toEqual([])
}, 120_000)

test('killed while a backlog drains, it leaves at most one copy a connection, and each is told', async () => {
  const found: number[] = []
  for (let round = 0; round < rounds; round++) {
    provider.accepted.length = 0
    provider.setScript({ dotAfterMs: 5 })
    await accept(200)
    const relay = await start()
    const at = 40 + 100 * Math.random()
    await until(() => provider.accepted.length >= at, { what: 'it submits' })
    await relay.kill()
    await provider.dropConnections()
    await expireLeases(database.db)
    const next = await start()
    await whenOver()
    await next.kill()
    const copies = copied()
    found.push(copies.length)
    expect(copies.length).toBeLessThanOrEqual(connections)
    const told = await toldAmbiguous()
    expect(copies.filter(id => !told.has(id))).toEqual([])
    expect(new Set(messageIdsOf()).size).toBe(200)
  }
  process.stdout.write(`copies after each kill with ${connections} connections: ${found.join(', ')}\n`)
}, 240_000)
