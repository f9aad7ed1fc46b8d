import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/base/clock.ts'
import { inTransaction } from '../../src/base/database/database.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { appendEvents, type NewEvent } from '../../src/events/append-events.ts'
import { selectEvents } from '../../src/events/read-events.ts'
import { numberEvents } from '../../src/events/sequencer.ts'
import { selectLastSequence, selectUnsequenced, updateSequences } from '../../src/events/table.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase(8)
})
afterAll(() => database.close())

function event(organizationId: Id<'org'>, n: number): NewEvent {
  return {
    type: 'email.sent',
    organizationId,
    brandId: null,
    occurredAt: systemClock.now(),
    data: { n },
  }
}

const read = async (organizationId: Id<'org'>) =>
  (await selectEvents(database.db, { organizationId, after: 0, limit: 1000 })).events.map(row => JSON.parse(row.data).n)

test('nobody sees an event before it is committed and numbered; one that is committed late comes late', async () => {
  const { db } = database
  const org = newId('org')
  const { promise: committed, resolve: commit } = Promise.withResolvers<void>()
  const { promise: written, resolve: wrote } = Promise.withResolvers<void>()
  const late = inTransaction(db, async tx => {
    await appendEvents(tx, [event(org, 1)])
    wrote()
    await committed
  })
  await written
  await appendEvents(db, [event(org, 2), event(org, 3)])
  expect(await read(org)).toEqual([])
  expect(await numberEvents(db)).toBe(2)
  expect(await read(org)).toEqual([2, 3])
  const before = await selectLastSequence(db)
  expect(await numberEvents(db)).toBe(0)
  commit()
  await late
  expect(await read(org)).toEqual([2, 3])
  expect(await numberEvents(db)).toBe(1)
  expect(await read(org)).toEqual([2, 3, 1])
  expect(await selectLastSequence(db)).toBe(before + 1)
})

test('a sequencer that was held up changes nothing that another has numbered, and gives out no number twice', async () => {
  const { db } = database
  const org = newId('org')
  await appendEvents(db, [event(org, 1), event(org, 2)])
  const last = await selectLastSequence(db)
  const stale = (await selectUnsequenced(db, 10)).map(row => Number(row.position))
  await appendEvents(db, [event(org, 3)])
  expect(await numberEvents(db)).toBe(3)
  await updateSequences(db, stale, last)
  await appendEvents(db, [event(org, 4)])
  const [other] = (await selectUnsequenced(db, 10)).map(row => Number(row.position))
  await expect(updateSequences(db, [other ?? 0], last)).rejects.toThrow('events_sequence')
  expect(await numberEvents(db)).toBe(1)
  expect(await read(org)).toEqual([1, 2, 3, 4])
  expect(await selectLastSequence(db)).toBe(last + 4)
})
