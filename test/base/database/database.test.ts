import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Instant } from '../../../src/base/clock.ts'
import { inTransaction, isDatabaseUnavailable, isDuplicate, openDatabase } from '../../../src/base/database/database.ts'
import { migrate } from '../../../src/base/database/migrate.ts'
import { newId } from '../../../src/base/ids.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { until } from '../../harness/until.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const at = '2026-01-01 00:00:00.000001' as Instant

test('stores date-times to the microsecond, and gives them as text', async () => {
  const id = newId('org')
  await database.db.insertInto('organizations').values({ id, name: 'Ü 🙂', plan: 'free', created_at: at }).execute()
  const row = await database.db.selectFrom('organizations').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  expect(row).toEqual({ id, name: 'Ü 🙂', plan: 'free', created_at: at, updated_at: null })
})

test('stores bytes unchanged', async () => {
  const bytes = Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256))
  const blob_id = newId('blb')
  await database.db.insertInto('blob_chunks').values({ blob_id, position: 0, bytes }).execute()
  const row = await database.db
    .selectFrom('blob_chunks')
    .select('bytes')
    .where('blob_id', '=', blob_id)
    .executeTakeFirst()
  expect(row?.bytes).toEqual(bytes)
})

test('sees what others commit during a transaction (READ COMMITTED), in UTC and strict mode', async () => {
  const { rows } = await sql<{ zone: string; mode: string }>`select @@time_zone as zone, @@sql_mode as mode`.execute(
    database.db,
  )
  expect(rows[0]?.zone).toBe('+00:00')
  expect(rows[0]?.mode).toContain('STRICT_ALL_TABLES')
  await inTransaction(database.db, async db => {
    const count = () => db.selectFrom('organizations').select(sql<number>`count(*)`.as('n')).executeTakeFirstOrThrow()
    const before = await count()
    await database.db
      .insertInto('organizations')
      .values({ id: newId('org'), name: 'b', plan: 'free', created_at: at })
      .execute()
    expect((await count()).n).toBe(before.n + 1)
  })
})

test('retries a whole transaction after a deadlock', async () => {
  const [a, b] = [newId('org'), newId('org')]
  await database.db
    .insertInto('organizations')
    .values([a, b].map(id => ({ id, name: 'x', plan: 'free' as const, created_at: at })))
    .execute()
  let tries = 0
  const { promise: bothLocked, resolve: letBothGoOn } = Promise.withResolvers<void>()
  const rename = (first: typeof a, second: typeof a, name: string) =>
    inTransaction(database.db, async db => {
      await db.updateTable('organizations').set({ name }).where('id', '=', first).execute()
      if (++tries === 2) letBothGoOn()
      await bothLocked
      await db.updateTable('organizations').set({ name }).where('id', '=', second).execute()
    })
  await Promise.all([rename(a, b, 'one'), rename(b, a, 'two')])
  expect(tries).toBeGreaterThan(2)
  const names = await database.db.selectFrom('organizations').select('name').where('id', 'in', [a, b]).execute()
  expect(new Set(names.map(row => row.name)).size).toBe(1)
})

test('rolls everything back when the work throws', async () => {
  const id = newId('org')
  const work = inTransaction(database.db, async db => {
    await db.insertInto('organizations').values({ id, name: 'x', plan: 'free', created_at: at }).execute()
    throw new Error('no')
  })
  expect(work).rejects.toThrow('no')
  await work.catch(() => undefined)
  expect(await database.db.selectFrom('organizations').select('id').where('id', '=', id).execute()).toEqual([])
})

test('recognises a duplicate and its index', async () => {
  const row = { id: newId('org'), name: 'x', plan: 'free' as const, created_at: at }
  await database.db.insertInto('organizations').values(row).execute()
  const error = await database.db
    .insertInto('organizations')
    .values(row)
    .execute()
    .catch((reason: unknown) => reason)
  expect(isDuplicate(error)).toBeTrue()
  expect(isDuplicate(error, 'PRIMARY')).toBeTrue()
  expect(isDuplicate(error, 'brands_slug')).toBeFalse()
  expect(isDatabaseUnavailable(error)).toBeFalse()
})

test('recognises an unreachable database', async () => {
  const away = openDatabase('mysql://root@127.0.0.1:1/none', 1)
  const error = await away.db
    .selectFrom('organizations')
    .select('id')
    .execute()
    .catch((reason: unknown) => reason)
  expect(isDatabaseUnavailable(error)).toBeTrue()
  expect(isDatabaseUnavailable(new Error('bug'))).toBeFalse()
  await away.close()
})

test('recognises a connection that is lost between two statements', async () => {
  const lost = inTransaction(database.db, async tx => {
    const { rows } = await sql<{ id: number }>`SELECT CONNECTION_ID() AS id`.execute(tx)
    await sql.raw(`KILL ${rows[0]?.id}`).execute(database.db)
    await until(async () => {
      const left = await sql`SELECT 1 FROM information_schema.processlist WHERE id = ${rows[0]?.id}`.execute(
        database.db,
      )
      return left.rows.length === 0
    })
    await sql`SELECT 1`.execute(tx)
  })
  expect(isDatabaseUnavailable(await lost.catch((reason: unknown) => reason))).toBeTrue()
})

const urlWithIdleMs = (ms: number) => `${database.url}${database.url.includes('?') ? '&' : '?'}idleMs=${ms}`

test('a pool of one keeps its connection, and the locks that belong to it', async () => {
  const { db, close } = openDatabase(urlWithIdleMs(100), 1)
  const name = `test ${newId('org')}`
  await sql`SELECT GET_LOCK(${name}, 0)`.execute(db)
  // Idle connections are looked for once a second.
  await Bun.sleep(2500)
  const { rows } = await sql<{ holder: number | null }>`SELECT IS_USED_LOCK(${name}) AS holder`.execute(database.db)
  expect(rows[0]?.holder).toBeNumber()
  await close()
})

test('closes connections that nothing has used for a while, and opens others', async () => {
  const { db, close } = openDatabase(urlWithIdleMs(100), 4)
  const numbers = async (count: number) => {
    const one = () => sql<{ id: number }>`SELECT CONNECTION_ID() AS id, SLEEP(0.05)`.execute(db)
    const results = await Promise.all(Array.from({ length: count }, one))
    return new Set(results.map(({ rows }) => rows[0]?.id))
  }
  const first = await numbers(4)
  expect(first.size).toBe(4)
  const isClosed = async () => {
    const { rows } = await sql`SHOW PROCESSLIST`.execute(database.db)
    return rows.every(row => !first.has((row as { readonly Id: number }).Id))
  }
  await until(isClosed, { what: 'the idle connections are closed' })
  const second = await numbers(4)
  expect([second.size, first.isDisjointFrom(second)]).toEqual([4, true])
  await close()
})

test('migrates once, however many processes start together, and resumes an interrupted run', async () => {
  expect(await Promise.all([migrate(database.db), migrate(database.db)])).toEqual([[], []])
  await sql`drop table search_texts`.execute(database.db)
  await sql`drop table thread_references`.execute(database.db)
  await sql`delete from kysely_migration`.execute(database.db)
  const files = new Bun.Glob('*.ts').scanSync(join(import.meta.dir, '../../../src/base/database/migrations'))
  expect(await migrate(database.db)).toEqual([...files].map(file => file.replace('.ts', '')).sort())
  expect(await database.db.selectFrom('thread_references').selectAll().execute()).toEqual([])
})

test('uses a schema to which a newer version only added, and refuses one from which it removed something', async () => {
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2099')`.execute(database.db)
  expect(await migrate(database.db)).toEqual([])
  await sql`insert into schema_floor (migration) values ('9999-later')`.execute(database.db)
  const refusal = await migrate(database.db).then(
    () => '',
    (error: Error) => error.message,
  )
  expect(refusal).toContain('migrated to 9999-later by a newer version')
  expect(refusal).toContain('start that version again, or restore a backup')
  await sql`delete from schema_floor`.execute(database.db)
  await sql`delete from kysely_migration where name = '9999-later'`.execute(database.db)
})
