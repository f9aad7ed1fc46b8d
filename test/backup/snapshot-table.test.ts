import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type SnapshotRow, selectRowBatch, selectTables } from '../../src/backup/make/snapshot-table.ts'
import { systemClock } from '../../src/base/clock.ts'
import { newId } from '../../src/base/ids.ts'
import { appendEvents } from '../../src/events/append-events.ts'
import { numberEvents } from '../../src/events/number-events.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

test('rows are read in the order of their key, each once, also where the key is a number', async () => {
  const { db } = database
  const organizationId = newId('org')
  const event = { type: 'email.sent', organizationId, brandId: null, occurredAt: systemClock.now(), data: {} } as const
  await appendEvents(
    db,
    Array.from({ length: 130 }, () => event),
  )
  expect(await numberEvents(db)).toBe(130)
  const tables = await selectTables(db)
  for (const [name, key] of [
    ['event_numbers', 'sequence'],
    ['events', 'position'],
  ] as const) {
    const table = tables.find(one => one.name === name)
    if (!table) throw new Error(`no table ${name}`)
    const read: number[] = []
    for (let after: SnapshotRow | null = null; ; ) {
      const batch: readonly SnapshotRow[] = await selectRowBatch(db, table, after, 16)
      read.push(...batch.map(row => Number(row[key])))
      after = batch.at(-1) ?? null
      if (batch.length < 16) break
    }
    expect(read).toEqual(Array.from({ length: 130 }, (_, i) => i + 1))
  }
})
