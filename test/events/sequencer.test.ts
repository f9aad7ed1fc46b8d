import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import pino from 'pino'
import { systemClock } from '../../src/base/clock.ts'
import { inTransaction } from '../../src/base/database/database.ts'
import { toJson } from '../../src/base/database/schema.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { appendEvents, type NewEvent } from '../../src/events/append-events.ts'
import { gapGraceMs, newNumberingMemory, numberEvents } from '../../src/events/number-events.ts'
import {
  insertNumbers,
  resetWatermark,
  selectNumberingStart,
  selectUnseenEvents,
} from '../../src/events/numbering-table.ts'
import { maxGaps } from '../../src/events/position-gaps.ts'
import { selectEvents } from '../../src/events/read-events.ts'
import { startSequencer } from '../../src/events/sequencer.ts'
import { deleteEvents, insertEvents, selectLastSequence } from '../../src/events/table.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'

const log = pino({ level: 'silent' })

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

const openWriters = new Set<(how: 'rollback') => Promise<void>>()
afterEach(async () => {
  for (const end of openWriters) await end('rollback')
})

/** A transaction that has written events, and is open until it is ended. */
async function openWriter(organizationId: Id<'org'>, ...numbers: readonly number[]) {
  const { promise: ended, resolve: end } = Promise.withResolvers<'commit' | 'rollback'>()
  const { promise: written, resolve: wrote } = Promise.withResolvers<void>()
  const transaction = inTransaction(database.db, async tx => {
    await appendEvents(
      tx,
      numbers.map(n => event(organizationId, n)),
    )
    wrote()
    if ((await ended) === 'rollback') throw new Error('rolled back')
  })
  await written
  const finish = async (how: 'commit' | 'rollback') => {
    openWriters.delete(finish)
    end(how)
    await transaction.catch(() => undefined)
  }
  openWriters.add(finish)
  return finish
}

/** A process that numbers, whose rounds are a second apart. */
function newProcess() {
  const memory = newNumberingMemory()
  let nowMs = 0
  const round = () => numberEvents(database.db, { memory, monotonicMs: () => (nowMs += 1000) })
  return {
    memory,
    round,
    async rounds(count: number): Promise<void> {
      for (let i = 0; i < count; i++) await round()
    },
  }
}

const graceRounds = gapGraceMs / 1000
const watermark = async () => (await selectNumberingStart(database.db, 0)).watermark
const lastPosition = async () => {
  const { rows } = await sql<{ last: number }>`SELECT MAX(position) AS last FROM events`.execute(database.db)
  return Number(rows[0]?.last ?? 0)
}

test('nobody sees an event before it is committed and numbered; one that is committed late comes late', async () => {
  const { db } = database
  const org = newId('org')
  const end = await openWriter(org, 1)
  await appendEvents(db, [event(org, 2), event(org, 3)])
  expect(await read(org)).toEqual([])
  expect(await numberEvents(db)).toBe(2)
  expect(await read(org)).toEqual([2, 3])
  const before = await selectLastSequence(db)
  expect(await numberEvents(db)).toBe(0)
  await end('commit')
  expect(await read(org)).toEqual([2, 3])
  expect(await numberEvents(db)).toBe(1)
  expect(await read(org)).toEqual([2, 3, 1])
  expect(await selectLastSequence(db)).toBe(before + 1)
})

test('who was held up numbers nothing a second time, and gives out no number twice', async () => {
  const { db } = database
  const org = newId('org')
  await appendEvents(db, [event(org, 1), event(org, 2)])
  const last = await selectLastSequence(db)
  const unseen = await selectUnseenEvents(db, { through: 0, gaps: [] }, 1000)
  const stale = unseen.filter(row => row.sequence === null).map(row => row.position)
  expect(stale).toHaveLength(2)
  await appendEvents(db, [event(org, 3)])
  expect(await numberEvents(db)).toBe(3)
  await expect(insertNumbers(db, stale, last)).rejects.toThrow('Duplicate')
  await expect(insertNumbers(db, stale, last + 3)).rejects.toThrow('event_numbers_position')
  await appendEvents(db, [event(org, 4)])
  await expect(insertNumbers(db, [await lastPosition()], last)).rejects.toThrow('PRIMARY')
  expect(await numberEvents(db)).toBe(1)
  expect(await read(org)).toEqual([1, 2, 3, 4])
  expect(await selectLastSequence(db)).toBe(last + 4)
})

test('several that number at once give each event one number, and those of a writer in order', async () => {
  const { db } = database
  const first = await selectLastSequence(db)
  const orgs = Array.from({ length: 4 }, () => newId('org'))
  let isWriting = true
  const writing = Promise.all(
    orgs.map(async org => {
      for (let n = 1; n <= 40; n += 2) {
        const end = await openWriter(org, n, n + 1)
        if (Math.random() < 0.3) await Bun.sleep(Math.random() * 20)
        const isKept = Math.random() < 0.7
        await end(isKept ? 'commit' : 'rollback')
        if (!isKept) n -= 2
      }
    }),
  ).finally(() => {
    isWriting = false
  })
  const numbered = await Promise.all(
    [newProcess(), newProcess(), newProcess()].map(async ({ round }) => {
      let count = 0
      while (isWriting) count += await round()
      return count + (await round())
    }),
  )
  await writing
  expect(numbered.reduce((sum, count) => sum + count) + (await numberEvents(db))).toBe(160)
  expect(await selectLastSequence(db)).toBe(first + 160)
  for (const org of orgs) expect(await read(org)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
})

test('an event that is committed long after a thousand later ones is numbered, however often that was looked for', async () => {
  const { db } = database
  const org = newId('org')
  const observer = newProcess()
  await observer.round()
  const before = await lastPosition()
  const end = await openWriter(org, 0)
  await appendEvents(
    db,
    Array.from({ length: 1200 }, (_, i) => event(newId('org'), i)),
  )
  await appendEvents(db, [event(org, 1)])
  await observer.rounds(4 * graceRounds)
  expect(await read(org)).toEqual([1])
  expect(await watermark()).toBeLessThanOrEqual(before)
  await end('commit')
  await appendEvents(db, [event(org, 2)])
  expect(await newProcess().round()).toBe(2)
  expect(await read(org)).toEqual([1, 0, 2])
  expect(await observer.round()).toBe(0)
  expect(await watermark()).toBe(await lastPosition())
})

test('where a transaction was rolled back nothing is looked for after a while, and not before', async () => {
  const { db } = database
  const org = newId('org')
  const observer = newProcess()
  const end = await openWriter(org, 1, 2)
  await appendEvents(db, [event(org, 3)])
  await observer.round()
  const gaps = () => observer.memory.seen?.positions.gaps.map(({ first, last }) => last - first + 1)
  expect(gaps()).toContain(2)
  const others = (gaps()?.length ?? 0) - 1
  await end('rollback')
  await observer.rounds(graceRounds - 1)
  expect(gaps()).toHaveLength(others + 1)
  await observer.rounds(3)
  expect(gaps()).toHaveLength(0)
  await observer.rounds(60)
  expect(await watermark()).toBe(await lastPosition())
  expect(await read(org)).toEqual([3])
})

test('with more gaps than a statement can name an event in any of them is still found, and all are given up', async () => {
  const { db } = database
  const organizationId = newId('org')
  const observer = newProcess()
  await observer.rounds(graceRounds + 2)
  const before = await lastPosition()
  const insertAt = (...positions: readonly number[]) =>
    insertEvents(
      db,
      positions.map(position => ({
        position,
        id: newId('evt'),
        organization_id: organizationId,
        brand_id: null,
        mailbox_id: null,
        type: 'email.sent',
        occurred_at: systemClock.now(),
        data: toJson({ n: position - before }),
        created_at: systemClock.now(),
      })),
    )
  const count = maxGaps + 100
  await insertAt(...Array.from({ length: count }, (_, i) => before + 2 * (i + 1)))
  expect(await observer.round()).toBe(count)
  await insertAt(before + 101, before + 2 * count + 1)
  expect(await observer.round()).toBe(2)
  expect((await read(organizationId)).slice(-2)).toEqual([101, 2 * count + 1])
  expect(observer.memory.seen?.positions.gaps.length).toBeLessThanOrEqual(maxGaps)
  await observer.rounds(graceRounds + 3)
  expect(observer.memory.seen?.positions.gaps).toEqual([])
})

test('who numbers while the database stands still does not take that time for time in which events could come', async () => {
  const memory = newNumberingMemory()
  let nowMs = 0
  const round = () => numberEvents(database.db, { memory, monotonicMs: () => nowMs })
  const end = await openWriter(newId('org'), 1)
  await appendEvents(database.db, [event(newId('org'), 2)])
  await round()
  await end('rollback')
  for (let i = 0; i < 3; i++) {
    nowMs += 10 * gapGraceMs
    await round()
  }
  expect(memory.seen?.positions.gaps).toHaveLength(1)
})

test('deletion leaves the others in order, and nothing is numbered twice or looked for again', async () => {
  const { db } = database
  const org = newId('org')
  const observer = newProcess()
  await appendEvents(db, [event(org, 1), event(org, 2), event(org, 3)])
  await observer.round()
  const last = await selectLastSequence(db)
  const remove = (sequence: number) => inTransaction(db, tx => deleteEvents(tx, [{ organizationId: org, sequence }]))
  await remove(last - 1)
  await remove(last)
  expect(await selectLastSequence(db)).toBe(last)
  await appendEvents(db, [event(org, 4)])
  expect([await observer.round(), await numberEvents(db)]).toEqual([1, 0])
  expect(await read(org)).toEqual([1, 4])
  expect(await selectLastSequence(db)).toBe(last + 1)
})

test('a database that lost its newest events gives their positions again, and what was remembered of them is forgotten', async () => {
  const { db } = database
  const org = newId('org')
  const observer = newProcess()
  const kept = await lastPosition()
  await appendEvents(db, [event(org, 1), event(org, 2)])
  expect(await observer.round()).toBe(2)
  await sql`DELETE FROM event_numbers WHERE position > ${kept}`.execute(db)
  await sql`DELETE FROM events WHERE position > ${kept}`.execute(db)
  await sql`ALTER TABLE events AUTO_INCREMENT = ${sql.lit(kept + 1)}`.execute(db)
  await appendEvents(db, [event(org, 3), event(org, 4)])
  expect(await lastPosition()).toBe(kept + 2)
  expect(await observer.round()).toBe(2)
  expect(await read(org)).toEqual([3, 4])
})

test('after a restore events are numbered whose positions are below those of before', async () => {
  const { db } = database
  const org = newId('org')
  const observer = newProcess()
  await appendEvents(db, [event(org, 1)])
  await observer.rounds(62)
  expect(await watermark()).toBe(await lastPosition())
  await sql`DELETE FROM event_numbers`.execute(db)
  await sql`TRUNCATE TABLE events`.execute(db)
  await resetWatermark(db)
  await appendEvents(db, [event(org, 2)])
  expect(await numberEvents(db)).toBe(1)
  await appendEvents(db, [event(org, 3)])
  await resetWatermark(db)
  expect(await watermark()).toBe(1)
  expect(await numberEvents(db)).toBe(1)
  await resetWatermark(db)
  expect(await watermark()).toBe(2)
})

test('while events come all the time there is a round each 120 ms, of all processes together', async () => {
  const own = await freshDatabase(4)
  const { db } = own
  for (const processes of [1, 2]) {
    let rounds = 0
    const onNumbered = () => void rounds++
    const startedMs = performance.now()
    const sequencers = Array.from({ length: processes }, () => startSequencer({ db, log, onNumbered }))
    while (performance.now() - startedMs < 2000) {
      await appendEvents(db, [event(newId('org'), 0)])
      await Bun.sleep(5)
    }
    await Promise.all(sequencers.map(sequencer => sequencer.stop()))
    // The first one of each comes at once.
    expect(rounds).toBeLessThanOrEqual(Math.ceil((performance.now() - startedMs) / 120) + processes)
    expect(rounds).toBeGreaterThan(1)
  }
  await own.close()
})

test('a process that numbered alone for long notices when another one did', async () => {
  const own = await freshDatabase(2)
  const { db } = own
  const organizationId = newId('org')
  const [ours, theirs] = [newNumberingMemory(), newNumberingMemory()]
  const append = (n: number) => appendEvents(db, [event(organizationId, n)])
  for (let n = 0; n < 12; n++) {
    await append(n)
    expect(await numberEvents(db, { memory: ours })).toBe(1)
  }
  await append(12)
  expect(await numberEvents(db, { memory: theirs })).toBe(1)
  await append(13)
  // Nothing gets a second number, and the next round looks.
  expect(await numberEvents(db, { memory: ours })).toBe(0)
  expect(await numberEvents(db, { memory: ours })).toBe(1)
  const { events } = await selectEvents(db, { organizationId, after: 0, limit: 100 })
  expect(events.map(row => [row.sequence, JSON.parse(row.data).n])).toEqual(
    Array.from({ length: 14 }, (_, n) => [n + 1, n]),
  )
  await own.close()
})
