import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { Instant } from '../../../src/base/clock.ts'
import { batched } from '../../../src/base/concurrency/batch.ts'
import {
  type Database,
  type Db,
  inTransaction,
  isDatabaseUnavailable,
  openDatabase,
} from '../../../src/base/database/database.ts'
import type { DatabaseWorkload } from '../../../src/base/database/timeouts.ts'
import { newId } from '../../../src/base/ids.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../../harness/database-proxy.ts'
import { until } from '../../harness/until.ts'

const timeoutMs = 1000
/** The timeout, the interval at which it is checked, and a machine that is busy. */
const inTimeMs = timeoutMs + 1500

let direct: FreshDatabase
let proxy: DatabaseProxy
const opened: Database[] = []

beforeAll(async () => {
  direct = await freshDatabase()
})
beforeEach(async () => {
  proxy = await startDatabaseProxy(direct.url)
})
afterEach(async () => {
  proxy.resume()
  await Promise.all(opened.splice(0).map(database => database.close()))
  proxy.close()
})
afterAll(() => direct.close())

function open(workload: DatabaseWorkload, connections = 2, ms: number | null = timeoutMs): Database {
  const database = openDatabase(`${proxy.url}${ms === null ? '' : `?timeoutMs=${ms}`}`, connections, { workload })
  opened.push(database)
  return database
}

const ask = (db: Db) => sql<{ answer: number }>`select ${1} as answer`.execute(db)

/** What the work failed with, and after how long. */
async function failure(work: Promise<unknown>): Promise<{ readonly error: unknown; readonly ms: number }> {
  const started = performance.now()
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { error, ms: performance.now() - started }
}

const newOrganization = (name: string) => ({
  id: newId('org'),
  name,
  plan: 'free' as const,
  created_at: '2026-01-01 00:00:00.000001' as Instant,
})

async function countOrganizations(name: string): Promise<number> {
  return (await direct.db.selectFrom('organizations').select('id').where('name', '=', name).execute()).length
}

test.each(['both', 'answers'] as const)(
  'a statement ends in time when the network is silent (%s), and the pool recovers',
  async what => {
    const { db } = open('request')
    await Promise.all([ask(db), ask(db)])
    proxy.silence(what)
    const { error, ms } = await failure(ask(db))
    expect(error).toMatchObject({
      name: 'DatabaseTimeoutError',
      message: 'the database did not answer a statement within 1 s',
    })
    expect(isDatabaseUnavailable(error)).toBe(true)
    expect(ms).toBeLessThan(inTimeMs)
    // The other connection was idle, and is given up as well.
    await until(() => proxy.connections === 0)
    proxy.resume()
    expect((await ask(db)).rows).toEqual([{ answer: 1 }])
    await until(() => proxy.connections === 1)
  },
)

test('a connection that never gets a greeting ends in time', async () => {
  const { db } = open('request')
  proxy.silence('both')
  const { error, ms } = await failure(ask(db))
  expect(isDatabaseUnavailable(error)).toBe(true)
  expect(ms).toBeLessThan(inTimeMs)
  await until(() => proxy.connections === 0)
})

test('many callers fail together, not one after the other, and leave nothing behind', async () => {
  const { db } = open('request', 2)
  await Promise.all([ask(db), ask(db)])
  proxy.silence('both')
  const failures = await Promise.all(Array.from({ length: 50 }, () => failure(ask(db))))
  expect(failures.filter(({ error }) => !isDatabaseUnavailable(error))).toEqual([])
  expect(Math.max(...failures.map(({ ms }) => ms))).toBeLessThan(inTimeMs)
  proxy.resume()
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(db)))
  expect(answers.length).toBe(50)
  await until(() => proxy.connections <= 2)
})

test('calls that share batches fail with the first of them', async () => {
  const { db } = open('request', 2)
  await ask(db)
  const look = batched<number, number>({ maxItems: 4, maxInFlight: 1 }, async items => {
    await ask(db)
    return items
  })
  proxy.silence('both')
  const failures = await Promise.all(Array.from({ length: 40 }, (_, i) => failure(look(i))))
  expect(failures.filter(({ error }) => !isDatabaseUnavailable(error))).toEqual([])
  expect(Math.max(...failures.map(({ ms }) => ms))).toBeLessThan(inTimeMs)
  proxy.resume()
  expect(await look(7)).toBe(7)
})

test('callers wait for a free connection no longer than for an answer', async () => {
  const { db } = open('request', 1)
  const { promise: finish, resolve } = Promise.withResolvers<void>()
  const user = db.connection().execute(() => finish)
  const { error, ms } = await failure(ask(db))
  expect(error).toMatchObject({ message: 'there was no connection to the database within 1 s' })
  expect(ms).toBeLessThan(inTimeMs)
  resolve()
  await user
  expect((await ask(db)).rows.length).toBe(1)
})

test('the queue of callers is bounded', async () => {
  const { db } = open('request', 1)
  const { promise: finish, resolve } = Promise.withResolvers<void>()
  const user = db.connection().execute(() => finish)
  await ask(direct.db)
  const waiting = Array.from({ length: 5000 }, () => ask(db))
  const { error, ms } = await failure(ask(db))
  expect(error).toMatchObject({ message: '5000 callers wait for a connection to the database already' })
  expect(ms).toBeLessThan(timeoutMs / 2)
  resolve()
  await user
  await Promise.allSettled(waiting)
})

test('a transaction whose work hangs gives its connection back, and is rolled back', async () => {
  const { db } = open('request', 1)
  const { promise: never, resolve } = Promise.withResolvers<void>()
  const stuck = failure(
    inTransaction(db, async tx => {
      await tx.insertInto('organizations').values(newOrganization('stuck')).execute()
      await never
      await ask(tx)
    }),
  )
  await until(async () => (await failure(ask(db))).error === undefined, { withinMs: 4 * timeoutMs + inTimeMs })
  resolve()
  expect((await stuck).error).toMatchObject({ message: 'a transaction took longer than 4 s' })
  expect(await countOrganizations('stuck')).toBe(0)
}, 15_000)

test('what the work threw is told, also when the rollback gets no answer', async () => {
  const { db } = open('request', 1)
  const { error, ms } = await failure(
    inTransaction(db, async tx => {
      await ask(tx)
      proxy.silence('both')
      throw new Error('the work')
    }),
  )
  expect(error).toMatchObject({ message: 'the work' })
  expect(ms).toBeLessThan(inTimeMs)
})

interface Silence {
  readonly beforeCommit?: () => void
  readonly later?: () => void
}

/** Inserts an organization in a transaction whose COMMIT gets no answer. Gives how often the work was done. */
async function insertAtSilence(
  name: string,
  { beforeCommit = () => undefined, later = () => undefined }: Silence,
): Promise<number> {
  const { db } = open('request')
  await ask(db)
  let tries = 0
  const organization = newOrganization(name)
  const outcome = inTransaction(
    db,
    async tx => {
      tries++
      await tx.insertInto('organizations').values(organization).execute()
      if (tries === 1) beforeCommit()
      return organization.id
    },
    async (lookup, id) =>
      (await lookup.selectFrom('organizations').select('id').where('id', '=', id).forUpdate().execute()).length > 0,
  )
  const timer = setTimeout(later, inTimeMs)
  const result = await outcome.finally(() => clearTimeout(timer))
  expect(result).toBe(organization.id)
  expect(await countOrganizations(name)).toBe(1)
  return tries
}

const isResumedLater = { later: () => proxy.resume() }

test('a COMMIT that was carried out and lost its answer is found, and not done again', async () => {
  const silence = { beforeCommit: () => proxy.silence('answers'), ...isResumedLater }
  expect(await insertAtSilence('answer lost', silence)).toBe(1)
}, 15_000)

test('a COMMIT that arrives late is waited for, and not done again', async () => {
  // At the end of the silence it reaches the server when the look-up has begun.
  const silence = { beforeCommit: () => proxy.silence('both'), ...isResumedLater }
  expect(await insertAtSilence('commit late', silence)).toBe(1)
}, 15_000)

test('a COMMIT that never arrived is done again', async () => {
  void proxy.pauseCommit('before', 'commit lost')
  expect(await insertAtSilence('commit lost', {})).toBe(2)
}, 15_000)

test('a COMMIT without a look-up, or whose look-up gets no answer, fails as unknown', async () => {
  const { db } = open('request')
  const { error } = await failure(
    inTransaction(db, async tx => {
      await ask(tx)
      proxy.silence('answers')
    }),
  )
  expect(error).toMatchObject({ name: 'CommitUnknownError' })
  expect(isDatabaseUnavailable(error)).toBe(true)
})

test('the server ends the transactions of connections that a firewall has forgotten, and with them their locks', async () => {
  const { db } = open('request')
  const organization = newOrganization('forgotten')
  await direct.db.insertInto('organizations').values(organization).execute()
  const rename = (tx: Db, name: string) =>
    tx.updateTable('organizations').set({ name }).where('id', '=', organization.id).execute()
  const { error } = await failure(
    inTransaction(db, async tx => {
      await rename(tx, 'zombie')
      proxy.silence('both')
      await ask(tx)
    }),
  )
  expect(isDatabaseUnavailable(error)).toBe(true)
  proxy.forget()
  await ask(db)
  await rename(direct.db, 'free')
  expect(await countOrganizations('free')).toBe(1)
})

test('a background statement may take as long as the server works on it', async () => {
  const { db } = open('background')
  const { error, ms } = await failure(sql`select sleep(${3})`.execute(db))
  expect(error).toBeUndefined()
  expect(ms).toBeGreaterThan(2 * timeoutMs)
}, 10_000)

test('a background statement whose answer was lost ends soon', async () => {
  const { db } = open('background')
  await ask(db)
  proxy.silence('answers')
  const asked = failure(ask(db))
  // Sent, and answered; the answer stays behind. New connections work again.
  await Bun.sleep(100)
  proxy.forget()
  const { error, ms } = await asked
  expect(isDatabaseUnavailable(error)).toBe(true)
  expect(ms).toBeLessThan(inTimeMs)
})

test('a statement of a request that waits for a lock fails in time, and the lock is not taken later', async () => {
  // The server waits for a lock a third of it.
  const { db } = open('request', 2, 3 * timeoutMs)
  const organization = newOrganization('locked')
  await direct.db.insertInto('organizations').values(organization).execute()
  const { promise: finish, resolve } = Promise.withResolvers<void>()
  const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>()
  const holder = inTransaction(direct.db, async tx => {
    await tx.selectFrom('organizations').select('id').where('id', '=', organization.id).forUpdate().execute()
    onLocked()
    await finish
  })
  await locked
  const { error, ms } = await failure(
    db.updateTable('organizations').set({ name: 'taken' }).where('id', '=', organization.id).execute(),
  )
  expect(isDatabaseUnavailable(error)).toBe(true)
  expect(ms).toBeLessThan(inTimeMs)
  resolve()
  await holder
  expect(await countOrganizations('locked')).toBe(1)
})

test('while the process stops the database gets less time', async () => {
  const database = open('background', 1, null)
  await ask(database.db)
  proxy.silence('both')
  const asked = failure(ask(database.db))
  database.limitTimeouts(500)
  const { error, ms } = await asked
  expect(isDatabaseUnavailable(error)).toBe(true)
  expect(ms).toBeLessThan(2000)
  const closing = performance.now()
  await database.close()
  expect(performance.now() - closing).toBeLessThan(1000)
  await until(() => proxy.connections === 0)
})

test('closing waits for the work in progress', async () => {
  const database = open('request', 1, null)
  const { promise: begun, resolve: onBegun } = Promise.withResolvers<void>()
  const work = inTransaction(database.db, async tx => {
    await tx.insertInto('organizations').values(newOrganization('closing')).execute()
    onBegun()
    await sql`select sleep(${0.3})`.execute(tx)
  })
  await begun
  await Promise.all([database.close(), work])
  expect(await countOrganizations('closing')).toBe(1)
})

test('15 s without an answer are the limit unless something else is said', async () => {
  const { db } = open('request', 1, null)
  await ask(db)
  proxy.silence('both')
  const { error, ms } = await failure(ask(db))
  expect(error).toMatchObject({ message: 'the database did not answer a statement within 15 s' })
  expect(ms).toBeGreaterThan(14_000)
  expect(ms).toBeLessThan(17_000)
}, 30_000)
