import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase(1)
})

afterAll(() => database.close())

test.each(['2026-01-31 08:15:00.000000', '2026-01-31 00:00:00.000000', '2026-01-31 08:15:00.100000'])(
  'gives the instant %s as it was stored',
  async at => {
    await sql`INSERT INTO organizations (id, name, plan, created_at) VALUES (${at.slice(-24)}, 'a', 'free', ${at})`.execute(
      database.db,
    )
    const stored = await database.db
      .selectFrom('organizations')
      .select(['created_at', 'name'])
      .where('id', '=', at.slice(-24) as never)
      .execute()
    expect(stored as unknown).toEqual([{ created_at: at, name: 'a' }])
  },
)
