import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { dayMs, plusMs, systemClock } from '../../src/base/clock.ts'
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

let database: FreshDatabase
let blobs: BlobStore
let cleanupDeps: BlobCleanupDeps
const organizationId = newId('org')
const clock = systemClock

beforeAll(async () => {
  database = await freshDatabase(16)
  blobs = mysqlBlobs(database.db, clock)
  cleanupDeps = { db: database.db, clock, selectReferencedBlobs }
})
afterAll(() => database.close())

function content(bytes: Buffer) {
  return { kind: 'memory', bytes, size: bytes.length } as const
}

async function age(id: Id<'blb'>, days: number): Promise<void> {
  const at = plusMs(clock.now(), -days * dayMs)
  await database.db.updateTable('blobs').set({ created_at: at }).where('id', '=', id).execute()
}

/** A blob that was stored long ago, and that nothing has referred to for so many days. */
async function storeUnreferenced(bytes: Buffer, days = 8): Promise<Id<'blb'>> {
  const { id } = await blobs.store(organizationId, content(bytes))
  await age(id, 20)
  await addTombstone(id, days)
  return id
}

async function addTombstone(id: Id<'blb'>, days: number): Promise<void> {
  await database.db
    .insertInto('blob_tombstones')
    .values({ blob_id: id, forgotten_at: plusMs(clock.now(), -days * dayMs), removed_at: null })
    .execute()
}

/** Inserts an email with this content. */
async function insertEmailWith(db: FreshDatabase['db'], blobId: Id<'blb'>): Promise<void> {
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

async function exists(id: Id<'blb'>): Promise<boolean> {
  return (await database.db.selectFrom('blobs').select('id').where('id', '=', id).execute()).length > 0
}

async function tombstones(): Promise<readonly string[]> {
  return (await database.db.selectFrom('blob_tombstones').select('blob_id').execute()).map(row => row.blob_id)
}

async function countChunks(id: Id<'blb'>): Promise<number> {
  return (await database.db.selectFrom('blob_chunks').select('position').where('blob_id', '=', id).execute()).length
}

async function deleteAll(): Promise<void> {
  while ((await deleteUnreferencedBlobs(cleanupDeps, 50)).examined === 50);
  while (await deleteOrphanedChunks(cleanupDeps));
}

test('blobs that nothing refers to are found in batches by id; new ones and referenced ones are left alone', async () => {
  const ids = await Promise.all(
    Array.from({ length: 7 }, async () => (await blobs.store(organizationId, content(randomBytes(40)))).id),
  )
  const [fresh, referred, ...old] = ids.sort()
  for (const id of ids.slice(1)) await age(id, 2)
  if (referred) await insertEmailWith(database.db, referred)
  let after: string | null = ''
  for (let i = 0; after !== null; i++) {
    expect(i).toBeLessThan(5)
    after = await markUnreferencedBlobs(cleanupDeps, after, 3)
  }
  expect([...(await tombstones())].sort()).toEqual(old)
  expect(fresh).toBeDefined()
  await deleteAll()
  for (const id of ids) expect(await exists(id)).toBeTrue()
})

test('after seven days the rows of unreferenced blobs are deleted, then their chunks in batches', async () => {
  const id = await storeUnreferenced(randomBytes(3 * 1024 * 1024))
  const young = await storeUnreferenced(randomBytes(10), 6)
  expect(await countChunks(id)).toBe(6)
  await deleteUnreferencedBlobs(cleanupDeps, 50)
  expect(await exists(id)).toBeFalse()
  expect(await exists(young)).toBeTrue()
  expect(await deleteOrphanedChunks(cleanupDeps)).toBeTrue()
  expect(await countChunks(id)).toBe(2)
  await deleteAll()
  expect(await countChunks(id)).toBe(0)
  expect(await tombstones()).not.toContain(id)
})

test('while a backup runs no blob and no chunk is deleted', async () => {
  const [id, half] = [await storeUnreferenced(randomBytes(10)), await storeUnreferenced(randomBytes(3 * 1024 * 1024))]
  await database.db.deleteFrom('blobs').where('id', '=', half).execute()
  await database.db
    .updateTable('blob_tombstones')
    .set({ removed_at: clock.now() })
    .where('blob_id', '=', half)
    .execute()
  await insertBackupRun(database.db, 'run', clock.now(), plusMs(clock.now(), dayMs))
  await deleteAll()
  expect(await exists(id)).toBeTrue()
  expect(await countChunks(half)).toBe(6)
  await deleteBackupRun(database.db, 'run')
  await deleteAll()
  expect(await exists(id)).toBeFalse()
  expect(await countChunks(half)).toBe(0)
})

test('a blob that is stored or referenced again stays and loses its tombstone', async () => {
  const bytes = randomBytes(100)
  const again = await storeUnreferenced(bytes)
  expect((await blobs.store(organizationId, content(bytes))).id).toBe(again)
  const referred = await storeUnreferenced(randomBytes(100))
  await insertEmailWith(database.db, referred)
  await deleteAll()
  expect(await exists(again)).toBeTrue()
  expect(await exists(referred)).toBeTrue()
  const left = await tombstones()
  expect(left).not.toContain(again)
  expect(left).not.toContain(referred)
})

for (const [how, size] of [
  ['one chunk, stored in the transaction that references it', 200],
  ['several chunks, staged before they are referenced', 600 * 1024],
] as const)
  test(`content that is stored again during the clean-up is whole once it is referenced: ${how}`, async () => {
    const rounds = size < 1000 ? 60 : 18
    const outcomes = { reused: 0, created: 0 }
    for (let i = 0; i < rounds; i++) {
      const bytes = randomBytes(size)
      const before = await storeUnreferenced(bytes)
      const store = async () => {
        // Varies the order in which the two meet; nothing is waited for.
        if (i % 6 > 1) await Bun.sleep(Math.random() * 4)
        if (size >= 1000) {
          const { id } = await blobs.store(organizationId, content(bytes))
          await insertEmailWith(database.db, id)
          return id
        }
        return await inTransaction(database.db, async tx => {
          const [stored] = await blobs.storeWithin(tx, [{ organizationId, bytes }])
          if (!stored) throw new Error('nothing was stored')
          await insertEmailWith(tx, stored.id)
          return stored.id
        })
      }
      // Each comes first some of the time; in the other rounds they run at the same time.

      if (i % 6 === 0) await deleteAll()
      const storing = store()
      if (i % 6 === 1) await storing
      const [id] = await Promise.all([
        storing,
        deleteUnreferencedBlobs(cleanupDeps, 50),
        deleteUnreferencedBlobs(cleanupDeps, 50),
      ])
      await deleteAll()
      expect(await blobs.readWhole(organizationId, id)).toEqual(bytes)
      outcomes[id === before ? 'reused' : 'created']++
    }
    expect(outcomes.reused).toBeGreaterThan(0)
    expect(outcomes.created).toBeGreaterThan(0)
  })
