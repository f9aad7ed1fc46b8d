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

/** Connections at most, in use, and who waits. */
async function shown(pool: string): Promise<readonly (number | undefined)[]> {
  const text = await registry.metrics()
  return ['connections_max', 'connections_in_use', 'waiting'].map(name => {
    const found = new RegExp(`^mailroom_database_${name}\\{pool="${pool}"\\} (\\d+)$`, 'm').exec(text)?.[1]
    return found === undefined ? undefined : Number(found)
  })
}

test('shows how many connections of a pool are in use and who waits, also after failures', async () => {
  const { db, close } = openDatabase(database.url, 2, 'trial')
  try {
    expect(await shown('trial')).toEqual([2, 0, 0])
    const gate = Promise.withResolvers<void>()
    const held = [1, 2].map(() => db.connection().execute(() => gate.promise))
    await until(async () => (await shown('trial'))[1] === 2)
    const waits = sql`select 1`.execute(db)
    await until(async () => (await shown('trial'))[2] === 1)
    gate.resolve()
    await Promise.all([...held, waits])
    expect(await shown('trial')).toEqual([2, 0, 0])

    await sql`select nothing`.execute(db).catch(() => undefined)
    await db
      .transaction()
      .execute(async tx => {
        await sql`kill connection_id()`.execute(tx).catch(() => undefined)
        await sql`select 1`.execute(tx)
      })
      .catch(() => undefined)
    expect(await shown('trial')).toEqual([2, 0, 0])
  } finally {
    await close()
  }
})

test('shows no pool that has no name', async () => {
  expect(await registry.metrics()).not.toContain('pool="undefined"')
})
