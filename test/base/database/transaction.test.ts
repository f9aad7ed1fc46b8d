import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import { sql } from 'kysely'
import type { Instant } from '../../../src/base/clock.ts'
import {
  type Db,
  inTransaction,
  isDatabaseUnavailable,
  isDuplicate,
  openDatabase,
} from '../../../src/base/database/database.ts'
import { insertRows } from '../../../src/base/database/insert-rows.ts'
import { selectRows } from '../../../src/base/database/select-rows.ts'
import { type Id, newId } from '../../../src/base/ids.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { startDatabaseProxy } from '../../harness/database-proxy.ts'
import { until } from '../../harness/until.ts'

let database: FreshDatabase
beforeAll(async () => {
  // One connection for the transactions: what it has prepared stays known.
  database = await freshDatabase(2)
})
afterAll(() => database.close())

const at = '2026-01-01 00:00:00.000001' as Instant

const insert = (db: Db, id: Id<'org'>) =>
  insertRows(db, 'organizations', [{ id, name: 'x', plan: 'free', created_at: at }])

const existing = async (ids: readonly Id<'org'>[]) => {
  const rows = await database.db.selectFrom('organizations').select('id').where('id', 'in', ids).execute()
  return ids.filter(id => rows.some(row => row.id === id))
}

const newIds = (count: number) => Array.from({ length: count }, () => newId('org'))

/** How many rows of these there are when it runs. */
const countOf = async (db: Db, ids: readonly Id<'org'>[]) => {
  const marks = ids.map(() => '?').join(', ')
  const [row] = await selectRows<{ n: number }>(
    db,
    `SELECT COUNT(*) AS n FROM organizations WHERE id IN (${marks})`,
    ids,
  )
  return Number(row?.n)
}

test('statements that are begun together reach the server without waiting for answers, and run in their order', async () => {
  // mysql2 says there that an answer is not the one it expects.
  const complaints = spyOn(console, 'error')
  const proxy = await startDatabaseProxy(database.url)
  const slow = openDatabase(proxy.url, 1)
  // The statements are prepared.
  await inTransaction(slow.db, async tx => [await insert(tx, newId('org')), await countOf(tx, newIds(3))])
  const ids = newIds(3)
  const [first, second, third] = ids as [Id<'org'>, Id<'org'>, Id<'org'>]
  const counts = inTransaction(slow.db, async tx => {
    // BEGIN has its answer.
    await countOf(tx, ids)
    proxy.silence('answers')
    const results = await Promise.all([
      insert(tx, first),
      countOf(tx, ids),
      insert(tx, second),
      countOf(tx, ids),
      insert(tx, third),
      countOf(tx, ids),
    ])
    return results
  })
  await database.db.connection().execute(async connection => {
    await sql`SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED`.execute(connection)
    await until(async () => (await countOf(connection, ids)) === 3, { what: 'all three are written' })
    await sql`SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`.execute(connection)
  })
  expect(await existing(ids)).toEqual([])
  proxy.resume()
  expect(await counts).toEqual([1, 1, 1, 2, 1, 3])
  expect(await existing(ids)).toEqual(ids)
  expect(complaints).not.toHaveBeenCalled()
  complaints.mockRestore()
  await slow.close()
  proxy.close()
})

test('statements that are not prepared yet, those as text and large ones keep the order too', async () => {
  const ids = newIds(2)
  const [first, second] = ids as [Id<'org'>, Id<'org'>]
  const text = 'a'.repeat(5_000_000)
  const lengths = await inTransaction(database.db, tx =>
    Promise.all([
      insert(tx, first),
      // Of another form each time: prepared for this transaction.
      selectRows<{ n: number }>(tx, `SELECT COUNT(*) AS n FROM organizations WHERE id = ? /* ${first} */`, [first]),
      selectRows<{ n: number }>(tx, `SELECT LENGTH(?) AS n`, [text]),
      selectRows<{ n: number }>(tx, `SELECT COUNT(*) AS n FROM organizations WHERE id = '${second}'`, []),
      insert(tx, second),
      selectRows<{ n: number }>(tx, `SELECT COUNT(*) AS n FROM organizations WHERE id = '${second}'`, []),
      selectRows<{ n: number }>(tx, `SELECT LENGTH(?) AS n`, [text.slice(1)]),
    ]),
  )
  const numbers = lengths.map(result => (typeof result === 'number' ? result : Number(result[0]?.n)))
  expect(numbers).toEqual([1, 1, 5_000_000, 0, 1, 1, 4_999_999])
})

test('of statements that are begun together none remains where one fails, and the connection stays of use', async () => {
  const ids = newIds(3)
  const [first, second, third] = ids as [Id<'org'>, Id<'org'>, Id<'org'>]
  for (const _ of [1, 2]) {
    const failed = await inTransaction(database.db, tx =>
      Promise.all([insert(tx, first), insert(tx, second), insert(tx, first), insert(tx, third)]),
    ).catch((error: unknown) => error)
    expect(isDuplicate(failed)).toBeTrue()
    expect(await existing(ids)).toEqual([])
  }
  await inTransaction(database.db, tx => Promise.all(ids.map(id => insert(tx, id))))
  expect(await existing(ids)).toEqual(ids)
})

test('a parameter that cannot be sent fails alone, and takes back what was begun with it', async () => {
  const ids = newIds(2)
  const [first, second] = ids as [Id<'org'>, Id<'org'>]
  const circular: { own?: unknown } = {}
  circular.own = circular
  const began = performance.now()
  for (const value of [undefined, circular]) {
    const failed = await inTransaction(database.db, async tx => {
      await selectRows(tx, 'SELECT ? AS n', [1])
      await Promise.all([insert(tx, first), selectRows(tx, 'SELECT ? AS n', [value]), insert(tx, second)])
    }).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(TypeError)
    expect(await existing(ids)).toEqual([])
  }
  // Not because the connection was silent.
  expect(performance.now() - began).toBeLessThan(10_000)
})

test('what was sent after a statement that ran into a deadlock is rolled back as well', async () => {
  const other = openDatabase(database.url, 1)
  const [a, b] = newIds(2) as [Id<'org'>, Id<'org'>]
  for (const id of [a, b]) await insert(database.db, id)
  const rename = (db: Db, id: Id<'org'>) => sql`UPDATE organizations SET name = ${'y'} WHERE id = ${id}`.execute(db)
  const attempts: Id<'org'>[] = []
  let bothBegan = 0
  const { promise: bothLocked, resolve: letBothGoOn } = Promise.withResolvers<void>()
  const run = (db: Db, first: Id<'org'>, second: Id<'org'>) =>
    inTransaction(db, async tx => {
      await rename(tx, first)
      if (++bothBegan === 2) letBothGoOn()
      await bothLocked
      const after = newId('org')
      attempts.push(after)
      await Promise.all([rename(tx, second), insert(tx, after), insert(tx, newId('org'))])
      return after
    })
  const lasting = await Promise.all([run(database.db, a, b), run(other.db, b, a)])
  expect(attempts.length).toBeGreaterThan(2)
  expect(await existing(attempts)).toEqual(attempts.filter(id => lasting.includes(id)))
  await other.close()
})

test('a statement that is begun after its transaction has ended is refused, and does not run', async () => {
  const [first, second, third] = newIds(3) as [Id<'org'>, Id<'org'>, Id<'org'>]
  let late: Promise<unknown> = Promise.resolve()
  const failed = inTransaction(database.db, async tx => {
    const slower = async () => {
      await insert(tx, first)
      await Bun.sleep(50)
      await insert(tx, second)
    }
    late = slower().catch((error: unknown) => error)
    await Promise.all([late, Promise.reject(new Error('no'))])
  })
  expect(await failed.catch((error: unknown) => error)).toEqual(new Error('no'))
  expect(await late).toEqual(new Error('a statement was begun after its transaction had ended'))
  let kept: Db | undefined
  await inTransaction(database.db, async tx => {
    kept = tx
    await insert(tx, third)
  })
  expect(await insert(kept as Db, second).catch((error: unknown) => error)).toBeInstanceOf(Error)
  expect(await existing([first, second, third])).toEqual([third])
})

test('all of them fail where the connection is lost', async () => {
  const ids = newIds(3)
  const results: unknown[] = []
  const lost = inTransaction(database.db, async tx => {
    const [row] = await selectRows<{ id: number }>(tx, 'SELECT CONNECTION_ID() AS id FROM DUAL WHERE 1 = ?', [1])
    const waiting = selectRows(tx, 'SELECT SLEEP(?)', [5])
    const all = [waiting, ...ids.map(id => insert(tx, id))]
    setTimeout(() => void sql.raw(`KILL ${row?.id}`).execute(database.db), 100)
    results.push(...(await Promise.allSettled(all)))
    return await Promise.all(all)
  })
  expect(isDatabaseUnavailable(await lost.catch((error: unknown) => error))).toBeTrue()
  expect(results).toHaveLength(4)
  expect(results.every(result => (result as PromiseSettledResult<unknown>).status === 'rejected')).toBeTrue()
  expect(await existing(ids)).toEqual([])
})

test('a statement without a transaction is committed by itself, also on a connection that had one', async () => {
  const one = openDatabase(database.url, 1)
  const [first, second] = newIds(2) as [Id<'org'>, Id<'org'>]
  await inTransaction(one.db, tx => insert(tx, first))
  await insert(one.db, second)
  expect(await existing([first, second])).toEqual([first, second])
  await one.close()
})

test('a select that cannot be sent leaves the next transaction whole', async () => {
  const one = openDatabase(database.url, 1)
  const id = newId('org')
  await inTransaction(one.db, tx => selectRows(tx, 'SELECT ? AS n', [1]))
  await expect(selectRows(one.db, 'SELECT ? AS n', [undefined])).rejects.toThrow(TypeError)
  const failed = inTransaction(one.db, async tx => {
    await insert(tx, id)
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  expect(await existing([id])).toEqual([])
  await one.close()
})
