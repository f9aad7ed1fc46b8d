import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Instant } from '../../../src/base/clock.ts'
import { inTransaction, isDatabaseUnavailable, isDuplicate, openDatabase } from '../../../src/base/database/database.ts'
import { migrate } from '../../../src/base/database/migrate.ts'
import { newId } from '../../../src/base/ids.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const at = '2026-01-01 00:00:00.000001' as Instant

test('gives date-times back to the microsecond, as text', async () => {
  const id = newId('org')
  await database.db.insertInto('organizations').values({ id, name: 'Ü 🙂', plan: 'free', created_at: at }).execute()
  const row = await database.db.selectFrom('organizations').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  expect(row).toEqual({ id, name: 'Ü 🙂', plan: 'free', created_at: at })
})

test('keeps bytes as they are', async () => {
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

test('reads what others committed within a transaction (READ COMMITTED), in UTC, strictly', async () => {
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

test('tries a whole transaction again after a deadlock', async () => {
  const [a, b] = [newId('org'), newId('org')]
  await database.db
    .insertInto('organizations')
    .values([a, b].map(id => ({ id, name: 'x', plan: 'free' as const, created_at: at })))
    .execute()
  let tries = 0
  const rename = (first: typeof a, second: typeof a, name: string) =>
    inTransaction(database.db, async db => {
      tries++
      await db.updateTable('organizations').set({ name }).where('id', '=', first).execute()
      await Bun.sleep(50)
      await db.updateTable('organizations').set({ name }).where('id', '=', second).execute()
    })
  await Promise.all([rename(a, b, 'one'), rename(b, a, 'two')])
  expect(tries).toBeGreaterThan(2)
  const names = await database.db.selectFrom('organizations').select('name').where('id', 'in', [a, b]).execute()
  expect(new Set(names.map(each => each.name)).size).toBe(1)
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

test('tells a duplicate and on which index', async () => {
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

test('tells a database that is away from other errors', async () => {
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

test('tells a connection that was lost between two statements from other errors', async () => {
  const lost = inTransaction(database.db, async tx => {
    const { rows } = await sql<{ id: number }>`SELECT CONNECTION_ID() AS id`.execute(tx)
    await sql.raw(`KILL ${rows[0]?.id}`).execute(database.db)
    await Bun.sleep(100)
    await sql`SELECT 1`.execute(tx)
  })
  expect(isDatabaseUnavailable(await lost.catch((reason: unknown) => reason))).toBeTrue()
})

test('migrates once, however many processes start together, and takes up a run that died half way', async () => {
  expect(await Promise.all([migrate(database.db), migrate(database.db)])).toEqual([[], []])
  await sql`drop table search_texts`.execute(database.db)
  await sql`drop table thread_references`.execute(database.db)
  await sql`delete from kysely_migration`.execute(database.db)
  const files = new Bun.Glob('*.ts').scanSync(join(import.meta.dir, '../../../src/base/database/migrations'))
  expect(await migrate(database.db)).toEqual([...files].map(file => file.replace('.ts', '')).sort())
  expect(await database.db.selectFrom('thread_references').selectAll().execute()).toEqual([])
})

test('works on tables that a newer version only added to, and refuses those that it took something from', async () => {
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
