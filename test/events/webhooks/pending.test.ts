import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { systemClock } from '../../../src/base/clock.ts'
import { type Id, newId } from '../../../src/base/ids.ts'
import { appendEvents } from '../../../src/events/append-events.ts'
import { numberEvents } from '../../../src/events/number-events.ts'
import { selectLastSequence } from '../../../src/events/table.ts'
import { selectOldestUnread, selectPendingWebhooks } from '../../../src/events/webhooks/dispatch/claim-table.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  // The server counts the rows that it reads by session.
  database = await freshDatabase(1)
})
afterAll(() => database.close())

async function insertWebhook(organizationId: Id<'org'>, readThrough: number): Promise<Id<'whk'>> {
  const id = newId('whk')
  const now = systemClock.now()
  await sql`INSERT INTO webhooks
    (id, organization_id, url, types, mailbox_ids, sealed, sealed_by, secret_ends_in, read_through, created_at, updated_at)
    VALUES (${id}, ${organizationId}, '', '', '[]', '', '', '', ${readThrough}, ${now}, ${now})`.execute(database.db)
  return id
}

async function rowsRead(): Promise<number> {
  const { rows } = await sql<{ Value: string }>`SHOW SESSION STATUS WHERE Variable_name IN
    ('Handler_read_key', 'Handler_read_next', 'Handler_read_prev', 'Handler_icp_attempts')`.execute(database.db)
  return rows.reduce((sum, row) => sum + Number(row.Value), 0)
}

test('which webhooks have something to deliver is found without reading the events that they passed', async () => {
  const { db } = database
  const [passed, unread] = [newId('org'), newId('org')]
  const event = (organizationId: Id<'org'>) =>
    ({ type: 'email.sent', organizationId, brandId: null, occurredAt: systemClock.now(), data: {} }) as const
  await appendEvents(
    db,
    Array.from({ length: 800 }, (_, i) => event(i % 2 ? passed : unread)),
  )
  expect(await numberEvents(db)).toBe(800)
  const last = await selectLastSequence(db)
  for (let i = 0; i < 5; i++) await insertWebhook(passed, last)
  const behind = await insertWebhook(unread, last - 3)
  const { created_at } = await db.selectFrom('events').select('created_at').limit(1).executeTakeFirstOrThrow()
  const before = await rowsRead()
  const now = systemClock.now()
  expect(await selectPendingWebhooks(db, { holder: 'test', now, limit: 10 })).toEqual([behind])
  expect(await selectOldestUnread(db)).toBe(created_at)
  expect((await rowsRead()) - before).toBeLessThan(100)
})
