import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { openDatabase } from '../../../src/base/database/database.ts'
import { registry } from '../../../src/base/observability/metrics.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { until } from '../../harness/until.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

/** The limit of connections, those in use, and the callers that wait. */
async function metricsOf(pool: string): Promise<readonly (number | undefined)[]> {
  const text = await registry.metrics()
  return ['connections_max', 'connections_in_use', 'waiting'].map(name => {
    const found = new RegExp(`^mailroom_database_${name}\\{pool="${pool}"\\} (\\d+)$`, 'm').exec(text)?.[1]
    return found === undefined ? undefined : Number(found)
  })
}

test('counts the connections of a pool in use and the callers that wait, also after failures', async () => {
  const { db, close } = openDatabase(database.url, 2, { name: 'test' })
  try {
    expect(await metricsOf('test')).toEqual([2, 0, 0])
    const release = Promise.withResolvers<void>()
    const inUse = [1, 2].map(() => db.connection().execute(() => release.promise))
    await until(async () => (await metricsOf('test'))[1] === 2)
    const waiting = sql`select 1`.execute(db)
    await until(async () => (await metricsOf('test'))[2] === 1)
    release.resolve()
    await Promise.all([...inUse, waiting])
    expect(await metricsOf('test')).toEqual([2, 0, 0])

    await sql`select nothing`.execute(db).catch(() => undefined)
    await db
      .transaction()
      .execute(async tx => {
        await sql`kill connection_id()`.execute(tx).catch(() => undefined)
        await sql`select 1`.execute(tx)
      })
      .catch(() => undefined)
    expect(await metricsOf('test')).toEqual([2, 0, 0])
  } finally {
    await close()
  }
})

test('has no metrics for a pool without a name', async () => {
  expect(await registry.metrics()).not.toContain('pool="undefined"')
})
