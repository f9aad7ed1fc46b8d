import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { plusMs, systemClock } from '../../src/base/clock.ts'
import { deleteBackupRun, insertBackupRun } from '../../src/base/database/backup-runs-table.ts'
import { inTransaction } from '../../src/base/database/database.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import {
  type BlobCleanupDeps,
  deleteOrphanedChunks,
  deleteUnreferencedBlobs,
  markUnreferencedBlobs,
} from '../../src/ports/blobs/delete-unreferenced.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import type { BlobStore } from '../../src/ports/blobs/port.ts'
import { selectReferencedBlobs } from '../../src/retention/unreferenced/blob-references-table.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { dayMs } from './fixtures.ts'

let database: FreshDatabase
let blobs: BlobStore
let cleaning: BlobCleanupDeps
const organizationId = newId('org')
const clock = systemClock

beforeAll(async () => {
  database = await freshDatabase(16)
  blobs = mysqlBlobs(database.db, clock)
  cleaning = { db: database.db, clock, selectReferencedBlobs }
})
afterAll(() => database.close())

function content(bytes: Buffer) {
  return { kind: 'memory', bytes, size: bytes.length } as const
}

async function age(id: Id<'blb'>, days: number): Promise<void> {
  const at = plusMs(clock.now(), -days * dayMs)
  await database.db.updateTable('blobs').set({ created_at: at }).where('id', '=', id).execute()
}

/** Stored long ago, referred to by nothing, and forgotten for so many days. */
async function forgotten(bytes: Buffer, days = 8): Promise<Id<'blb'>> {
  const { id } = await blobs.store(organizationId, content(bytes))
  await age(id, 20)
  await bury(id, days)
  return id
}

async function bury(id: Id<'blb'>, days: number): Promise<void> {
  await database.db
    .insertInto('blob_tombstones')
    .values({ blob_id: id, forgotten_at: plusMs(clock.now(), -days * dayMs), removed_at: null })
    .execute()
}

/** As an email refers to its message; nothing else of an email matters here. */
async function refer(db: FreshDatabase['db'], blobId: Id<'blb'>): Promise<void> {
  const now = clock.now()
  const id = newId('eml')
  await db
    .insertInto('emails')
    .values({
      id,
      organization_id: organizationId,
      brand_id: newId('brd'),
      domain_id: newId('dom'),
      api_key_id: null,
      created_at: plusMs(now, -Math.random() * 1e9),
      scheduled_at: null,
      expires_at: now,
      status: 'sent',
      message_id: id,
      thread_id: id,
      from_address: 'a@b.example',
      from_header: 'a@b.example',
      to_addresses: '[]',
      cc_addresses: '[]',
      bcc_addresses: '[]',
      reply_to: '[]',
      subject: '',
      tags: '[]',
      metadata: '{}',
      template: null,
      attachments: '[]',
      attachment_count: 0,
      blob_id: blobId,
      provider: 'sandbox',
      provider_message_id: null,
      sent_at: now,
      last_event_at: now,
      error: null,
    })
    .execute()
}

async function isThere(id: Id<'blb'>): Promise<boolean> {
  return (await database.db.selectFrom('blobs').select('id').where('id', '=', id).execute()).length > 0
}

async function tombstones(): Promise<readonly string[]> {
  return (await database.db.selectFrom('blob_tombstones').select('blob_id').execute()).map(row => row.blob_id)
}

async function chunksOf(id: Id<'blb'>): Promise<number> {
  return (await database.db.selectFrom('blob_chunks').select('position').where('blob_id', '=', id).execute()).length
}

async function removeAll(): Promise<void> {
  while ((await deleteUnreferencedBlobs(cleaning, 50)).examined === 50);
  while (await deleteOrphanedChunks(cleaning));
}

test('blobs that nothing refers to are found by their ids, a few at a time; new ones and those referred to are not', async () => {
  const ids = await Promise.all(
    Array.from({ length: 7 }, async () => (await blobs.store(organizationId, content(randomBytes(40)))).id),
  )
  const [fresh, referred, ...old] = ids.sort()
  for (const id of ids.slice(1)) await age(id, 2)
  if (referred) await refer(database.db, referred)
  let after: string | null = ''
  for (let i = 0; after !== null; i++) {
    expect(i).toBeLessThan(5)
    after = await markUnreferencedBlobs(cleaning, after, 3)
  }
  expect([...(await tombstones())].sort()).toEqual(old)
  expect(fresh).toBeDefined()
  await removeAll()
  for (const id of ids) expect(await isThere(id)).toBeTrue()
})

test('after seven days their rows go, and their chunks follow a few at a time', async () => {
  const id = await forgotten(randomBytes(3 * 1024 * 1024))
  const young = await forgotten(randomBytes(10), 6)
  expect(await chunksOf(id)).toBe(6)
  await deleteUnreferencedBlobs(cleaning, 50)
  expect(await isThere(id)).toBeFalse()
  expect(await isThere(young)).toBeTrue()
  expect(await deleteOrphanedChunks(cleaning)).toBeTrue()
  expect(await chunksOf(id)).toBe(2)
  await removeAll()
  expect(await chunksOf(id)).toBe(0)
  expect(await tombstones()).not.toContain(id)
})

test('while a backup runs no row and no chunk goes', async () => {
  const [id, half] = [await forgotten(randomBytes(10)), await forgotten(randomBytes(3 * 1024 * 1024))]
  await database.db.deleteFrom('blobs').where('id', '=', half).execute()
  await database.db
    .updateTable('blob_tombstones')
    .set({ removed_at: clock.now() })
    .where('blob_id', '=', half)
    .execute()
  await insertBackupRun(database.db, 'run', clock.now(), plusMs(clock.now(), dayMs))
  await removeAll()
  expect(await isThere(id)).toBeTrue()
  expect(await chunksOf(half)).toBe(6)
  await deleteBackupRun(database.db, 'run')
  await removeAll()
  expect(await isThere(id)).toBeFalse()
  expect(await chunksOf(half)).toBe(0)
})

test('what is stored again, or referred to again, stays and loses its tombstone', async () => {
  const bytes = randomBytes(100)
  const again = await forgotten(bytes)
  expect((await blobs.store(organizationId, content(bytes))).id).toBe(again)
  const referred = await forgotten(randomBytes(100))
  await refer(database.db, referred)
  await removeAll()
  expect(await isThere(again)).toBeTrue()
  expect(await isThere(referred)).toBeTrue()
  const left = await tombstones()
  expect(left).not.toContain(again)
  expect(left).not.toContain(referred)
})

for (const [how, size] of [
  ['of one chunk, in the transaction that refers to it', 200],
  ['of several chunks, staged before it is referred to', 600 * 1024],
] as const)
  test(`what is stored again while the cleaner comes by is whole whenever it is referred to: ${how}`, async () => {
    const rounds = size < 1000 ? 60 : 18
    const outcomes = { kept: 0, made: 0 }
    for (let i = 0; i < rounds; i++) {
      const bytes = randomBytes(size)
      const before = await forgotten(bytes)
      const store = async () => {
        if (i % 6 > 1) await Bun.sleep(Math.random() * 4)
        if (size >= 1000) {
          const { id } = await blobs.store(organizationId, content(bytes))
          await refer(database.db, id)
          return id
        }
        return await inTransaction(database.db, async tx => {
          const [stored] = await blobs.storeWithin(tx, [{ organizationId, bytes }])
          if (!stored) throw new Error('nothing was stored')
          await refer(tx, stored.id)
          return stored.id
        })
      }
      // Either comes first some of the time, and all the rest they meet.
      if (i % 6 === 0) await removeAll()
      const storing = store()
      if (i % 6 === 1) await storing
      const [id] = await Promise.all([
        storing,
        deleteUnreferencedBlobs(cleaning, 50),
        deleteUnreferencedBlobs(cleaning, 50),
      ])
      await removeAll()
      expect(await blobs.readWhole(organizationId, id)).toEqual(bytes)
      outcomes[id === before ? 'kept' : 'made']++
    }
    expect(outcomes.kept).toBeGreaterThan(0)
    expect(outcomes.made).toBeGreaterThan(0)
  })
