import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type Clock, type Instant, plusMs, systemClock } from '../../../src/base/clock.ts'
import type { Folder } from '../../../src/base/database/schema.ts'
import type { Id } from '../../../src/base/ids.ts'
import { failureLog } from '../../../src/base/observability/failure-log.ts'
import { changeMatching } from '../../../src/inbox/matching/matching.ts'
import { changeMessages } from '../../../src/inbox/messages/change-messages.ts'
import { moveMessage, restoreMessage } from '../../../src/inbox/messages/messages.ts'
import { queueLessons } from '../../../src/inbox/spam-lessons/lessons.ts'
import { teachRound } from '../../../src/inbox/spam-lessons/teach.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import type { LessonResult } from '../../../src/ports/spam-filter/port.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { testMember } from '../../harness/session.ts'
import {
  fakeScanner,
  inboundPipeline,
  inMemory,
  log,
  mailTo,
  message,
  messagesOf,
  type Receiver,
  receiver,
} from '../../receiving/fixtures.ts'

/** What moves teach the spam filter. */
let database: FreshDatabase
let shop: Receiver
let now: Instant
const clock: Clock = { now: () => now }

beforeAll(async () => {
  database = await freshDatabase(4)
})
afterAll(() => database.close())
beforeEach(async () => {
  now = systemClock.now()
  await database.db.deleteFrom('spam_lessons').execute()
  shop = await receiver(database)
  await shop.mailbox('')
})

const later = (seconds: number) => {
  now = plusMs(now, seconds * 1000)
}
const deps = () => ({ db: database.db, beforeMove: queueLessons(clock) })
const caller = () => testMember(shop.organizationId)

/** Receives a message, with this text; gives its id. */
async function deliver(body = 'Hello.\r\n', isInfected = false): Promise<Id<'msg'>> {
  const scanner = isInfected ? { scanner: fakeScanner({ kind: 'infected', signature: 'Eicar' }) } : {}
  const inbound = inboundPipeline(shop, scanner)
  const recipient = await inbound.findRecipient(`hello@${shop.domain}`)
  const { id } = await inbound.receive(mailTo([recipient], inMemory(message([], body))))
  return id as Id<'msg'>
}

const move = (id: string, folder: Folder) => moveMessage(deps(), caller(), id, folder)

/** Teaches what is due; gives what the filter was told, with the last line of the message. */
async function teach(result: LessonResult = { kind: 'learned' }): Promise<readonly string[]> {
  const told: string[] = []
  const { db } = database
  const learn = async (lesson: string, { size, bytes }: { size: number; bytes: AsyncIterable<Uint8Array> }) => {
    const chunks = await Array.fromAsync(bytes)
    const text = Buffer.concat(chunks).toString()
    expect(text.length).toBe(size)
    told.push(`${lesson} ${text.trimEnd().split('\r\n').at(-1)}`)
    return result
  }
  const failures = failureLog(log, {}, { failed: 'failed', recovered: 'recovered' })
  await teachRound({ db, blobs: mysqlBlobs(db, clock), clock, learn, failures }, new AbortController().signal)
  return told
}

const waiting = () => database.db.selectFrom('spam_lessons').selectAll().execute()

test('a move to spam teaches spam and one from there to the inbox or the archive ham, once it has settled', async () => {
  const [first, second] = [await deliver('One.\r\n'), await deliver('Two.\r\n')]
  await move(first, 'spam')
  expect(await teach()).toEqual([])
  later(11)
  expect(await teach()).toEqual(['spam One.'])
  expect(await waiting()).toEqual([])
  await move(first, 'archive')
  await move(second, 'archive')
  later(11)
  expect(await teach()).toEqual(['ham One.'])
})

test('what is moved twice quickly is taught once, as it was moved last', async () => {
  const id = await deliver()
  await move(id, 'spam')
  later(5)
  await move(id, 'inbox')
  later(6)
  expect(await teach()).toEqual([])
  later(5)
  expect(await teach()).toEqual(['ham Hello.'])
})

test('deleting, restoring and quarantine teach nothing, nor does what is infected', async () => {
  const [deleted, restored, quarantined, infected] = [
    await deliver('1'),
    await deliver('2'),
    await deliver('3'),
    await deliver('4', true),
  ]
  await move(deleted, 'spam')
  await database.db.deleteFrom('spam_lessons').execute()
  await move(deleted, 'trash')
  await move(restored, 'trash')
  await restoreMessage(deps(), caller(), restored)
  await move(quarantined, 'quarantine')
  await move(quarantined, 'spam')
  await move(quarantined, 'quarantine')
  await move(quarantined, 'inbox')
  await database.db.updateTable('messages').set({ folder: 'inbox' }).where('id', '=', infected).execute()
  await move(infected, 'spam')
  expect(await waiting()).toEqual([])
})

test('a message that was put into quarantine before it was taught is not', async () => {
  const id = await deliver()
  await move(id, 'spam')
  await move(id, 'quarantine')
  later(11)
  expect(await teach()).toEqual([])
  expect(await waiting()).toEqual([])
})

test('many moved at once, by ids or by a filter, teach as one does', async () => {
  const ids = [await deliver('a'), await deliver('b'), await deliver('c')]
  await changeMessages(deps(), caller(), { ids: [...ids], read: true })
  await changeMessages(deps(), caller(), { ids: ids.slice(0, 2), folder: 'spam' })
  later(11)
  expect((await teach()).toSorted()).toEqual(['spam a', 'spam b'])
  const filter = { folder: 'spam', mailboxId: undefined, receivedUntil: plusMs(now, 1000) } as const
  await changeMatching(deps(), caller(), filter, { folder: 'inbox' })
  later(11)
  expect((await teach()).toSorted()).toEqual(['ham a', 'ham b'])
})

test('a filter that is away is told later, less and less often, and for a week', async () => {
  const id = await deliver()
  await move(id, 'spam')
  later(11)
  const away = { kind: 'unavailable', why: 'away' } as const
  expect(await teach(away)).toHaveLength(1)
  expect(await teach(away)).toEqual([])
  later(61)
  expect(await teach(away)).toHaveLength(1)
  later(61)
  expect(await teach(away)).toEqual([])
  expect(await waiting()).toMatchObject([{ attempts: 2 }])
  later(7 * 24 * 3600)
  expect(await teach(away)).toHaveLength(1)
  expect(await waiting()).toEqual([])
})

test('what the filter can never learn from is told once', async () => {
  const id = await deliver()
  await move(id, 'spam')
  later(11)
  expect(await teach({ kind: 'refused', why: 'too short' })).toHaveLength(1)
  expect(await waiting()).toEqual([])
})

test('a move while it is taught is taught after it', async () => {
  const id = await deliver()
  await move(id, 'spam')
  later(11)
  const { db } = database
  const failures = failureLog(log, {}, { failed: 'failed', recovered: 'recovered' })
  const learn = async () => {
    later(1)
    await move(id, 'inbox')
    return { kind: 'learned' } as const
  }
  await teachRound({ db, blobs: mysqlBlobs(db, clock), clock, learn, failures }, new AbortController().signal)
  later(11)
  expect(await teach()).toEqual(['ham Hello.'])
})

test('two processes teach each message once', async () => {
  for (let count = 0; count < 6; count++) await move(await deliver(`${count}`), 'spam')
  later(11)
  const told = await Promise.all([teach(), teach()])
  expect(told.flat().toSorted()).toEqual(Array.from({ length: 6 }, (_, count) => `spam ${count}`))
})

test('the other organization’s messages are neither moved nor taught', async () => {
  const id = await deliver()
  const other = await receiver(database)
  const stranger = { ...caller(), organizationId: other.organizationId }
  expect(await changeMessages(deps(), stranger, { ids: [id], folder: 'spam' })).toEqual({
    updated: [],
    not_found: [id],
  })
  expect(await waiting()).toEqual([])
  expect((await messagesOf(shop))[0]?.folder).toBe('inbox')
})

test('beyond the limit moves teach nothing, and are moved', async () => {
  const id = await deliver()
  const rows = Array.from({ length: 10_000 }, (_, count) => ({
    message_id: `msg_${String(count).padStart(26, '0')}` as const,
    organization_id: shop.organizationId,
    lesson: 'spam' as const,
    due_at: plusMs(now, 3_600_000),
    attempts: 0,
    created_at: now,
  }))
  for (let at = 0; at < rows.length; at += 1000)
    await database.db
      .insertInto('spam_lessons')
      .values(rows.slice(at, at + 1000))
      .execute()
  await move(id, 'spam')
  later(11)
  expect(await teach()).toEqual([])
  expect((await messagesOf(shop))[0]?.folder).toBe('spam')
})
