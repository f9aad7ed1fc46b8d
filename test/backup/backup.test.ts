import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { findBackup, listBackups } from '../../src/backup/files/folder.ts'
import { pruneBackups } from '../../src/backup/files/prune.ts'
import { acquireBackupLease } from '../../src/backup/make/backup-lease.ts'
import { systemClock } from '../../src/base/clock.ts'
import { isBackupRunning } from '../../src/base/database/backup-runs-table.ts'
import { inTransaction } from '../../src/base/database/database.ts'
import { UsageError } from '../../src/base/operator-error.ts'
import { backupCommand } from '../../src/cli/backup.ts'
import { restoreCommand } from '../../src/cli/restore.ts'
import {
  type BackupSource,
  createBackupSource,
  inspectFiles,
  listFiles,
  runBackup,
  tableContents,
} from '../harness/backups.ts'
import { emptyDatabase, type FreshDatabase } from '../harness/database.ts'
import { until } from '../harness/until.ts'

// A command begins in a second, and in many on a machine that has other things to do.
setDefaultTimeout(120_000)

let store: BackupSource
let folder: string
let target: FreshDatabase
/** What the store held when it was first backed up. */
let before: Awaited<ReturnType<typeof tableContents>>

beforeAll(async () => {
  store = await createBackupSource()
  folder = join(store.folder, 'backups')
  target = await emptyDatabase()
  before = await tableContents(store.database.db)
  // In a restored database the positions of events begin after those that are left: here there are none.
  const setWatermark = (position: number) =>
    store.database.db.updateTable('event_watermark').set({ position }).execute()
  await setWatermark(50)
  await json('backup', folder)
  await setWatermark(0)
}, 60_000)

afterAll(async () => {
  await target?.close()
  await store?.close()
})

async function json(...args: string[]) {
  const { status, out, err } = await store.mailroom([...args, '--json'])
  expect([status, err]).toEqual([0, ''])
  return JSON.parse(out)
}

function restoreInto({ url }: FreshDatabase, more: Readonly<Record<string, string>> = {}) {
  return store.mailroom(['restore', folder, '--json'], { MAILROOM_DATABASE_URL: url, ...more })
}

test('a restored database has the rows and bytes that were backed up, with the outbox on hold and the API keys disabled', async () => {
  const ran = await restoreInto(target)
  expect([ran.status, ran.err]).toEqual([0, ''])
  expect(JSON.parse(ran.out)).toMatchObject({ held: 300, disabled_keys: 1, blobs: 303 })
  expect(await tableContents(target.db)).toEqual(before)
  const held = await target.db.selectFrom('outbox').select(['held_at', 'held_reason']).execute()
  expect(held.every(row => row.held_at !== null && row.held_reason?.startsWith('Restored'))).toBe(true)
  const keys = await target.db.selectFrom('api_keys').select('disabled_at').execute()
  expect(keys.map(key => typeof key.disabled_at)).toEqual(['string'])
})

test('a database that is not empty is refused and stays as it is', async () => {
  const ran = await restoreInto(store.database)
  expect([ran.status, ran.out]).toEqual([1, ''])
  expect(ran.err).toMatch(/^mailroom: The database is not empty: there are rows in api_keys, .*brands, /)
  expect(await tableContents(store.database.db)).toEqual(before)
})

test('a database with other tables is refused and keeps them', async () => {
  const other = await emptyDatabase()
  try {
    await sql`CREATE TABLE guests (id INT PRIMARY KEY)`.execute(other.db)
    const ran = await restoreInto(other)
    expect([ran.status, ran.err]).toEqual([
      1,
      'mailroom: The database has tables that do not belong to Mailroom: use an empty one.\n',
    ])
    await sql`SELECT id FROM guests`.execute(other.db)
  } finally {
    await other.close()
  }
})

test('verify restores the backup, records the result, and leaves no database behind', async () => {
  const verified = await json('backup', 'verify', folder)
  expect(verified).toMatchObject({ whole: true, restored: true, recorded: true, blobs: 303, damages: [] })
  const { db } = store.database
  const [made] = await db.selectFrom('backups').selectAll().execute()
  expect(made).toMatchObject({ id: verified.id, proven_at: expect.any(String), refuted_at: null })
  const { rows } = await sql<{ name: string }>`SELECT schema_name AS name FROM information_schema.schemata`.execute(db)
  const prefix = `${new URL(store.database.url).pathname.slice(1)}_verify_`
  expect(rows.map(row => row.name).filter(name => name.startsWith(prefix))).toEqual([])
})

test('verify uses a given database and empties it again', async () => {
  const scratch = await emptyDatabase()
  try {
    const verified = await json('backup', 'verify', folder, '--database-url', scratch.url)
    expect(verified).toMatchObject({ whole: true, restored: true })
    const { rows } = await sql`SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE()`.execute(
      scratch.db,
    )
    expect(rows).toEqual([])
  } finally {
    await scratch.close()
  }
})

test('an unencrypted backup names the secret key that it does not include, and restores only with that key', async () => {
  expect((await findBackup(folder, undefined)).secret_key).toBeNull()
  const { secret_keys } = await findBackup(folder, undefined)
  const { out } = await store.mailroom(['backup', join(store.folder, 'unencrypted')])
  expect(out).toContain(`It does not include the secret key ${secret_keys.join(', ')}`)
  const empty = await emptyDatabase()
  try {
    const another = await restoreInto(empty, { MAILROOM_SECRET_KEY: Buffer.alloc(32).toString('base64') })
    expect([another.status, another.err]).toEqual([
      1,
      expect.stringContaining(`encrypted with the secret key ${secret_keys.join(', ')}, which it does not include`),
    ])
    expect(await tableContents(empty.db)).toEqual({})
  } finally {
    await empty.close()
  }
})

test('a second backup writes only new content, each can be restored, and prune keeps the newest', async () => {
  const place = join(store.folder, 'incremental')
  const first = await runBackup(store, place)
  const written = listFiles(place)
  await store.addEmails(20)
  const second = await runBackup(store, place)
  expect([second.manifest.blobs, second.newBlobs]).toEqual([323, 20])
  expect(second.newBytes).toBeLessThan(first.bytes / 2)
  expect(listFiles(place)).toEqual(expect.arrayContaining([...written]))
  expect(listBackups(place)).toEqual([first.manifest.id, second.manifest.id])
  for (const { manifest } of [first, second]) expect(await inspectFiles(place, { id: manifest.id })).toEqual([])

  expect(await json('backup', 'prune', place, '--keep', '1')).toEqual({ removed: [first.manifest.id] })
  expect(listBackups(place)).toEqual([second.manifest.id])
  expect(await inspectFiles(place)).toEqual([])

  // All of it is copied anew, so that nothing of the earlier ones is needed.
  const full = await runBackup(store, place, { isFull: true })
  expect(full.newBlobs).toBe(323)
  await pruneBackups(place, 1)
  expect(listFiles(place).every(file => file.includes(full.manifest.id))).toBe(true)
  expect(await inspectFiles(place)).toEqual([])
}, 120_000)

test('content that the database itself lost is named, and the rest is backed up', async () => {
  const { db } = store.database
  const place = join(store.folder, 'lossy')
  const chunk = await db
    .selectFrom('emails')
    .innerJoin('blob_chunks', 'blob_chunks.blob_id', 'emails.blob_id')
    .select(['blob_chunks.blob_id', 'blob_chunks.position', 'blob_chunks.bytes'])
    .limit(1)
    .executeTakeFirstOrThrow()
  await db.deleteFrom('blob_chunks').where('blob_id', '=', chunk.blob_id).execute()
  try {
    const { manifest } = await runBackup(store, place)
    expect(manifest.damaged_blobs).toEqual([chunk.blob_id])
    expect(await json('backup', 'verify', place)).toMatchObject({ whole: true, damaged_before: [chunk.blob_id] })
  } finally {
    await db.insertInto('blob_chunks').values(chunk).execute()
  }
  // Once they are there again the next backup has them.
  const { manifest, newBlobs } = await runBackup(store, place)
  expect([manifest.damaged_blobs, newBlobs]).toEqual([[], 1])
}, 120_000)

test('while a backup runs no blob is deleted, and no other backup starts', async () => {
  const { url, db } = store.database
  const isRunning = () => inTransaction(db, tx => isBackupRunning(tx, systemClock.now()))
  const lease = await acquireBackupLease(url, '20270131T081500Z-000000', systemClock)
  expect(await isRunning()).toBe(true)
  const ran = await store.mailroom(['backup', join(store.folder, 'another')])
  expect([ran.status, ran.err]).toEqual([1, 'mailroom: Another backup of this database is running.\n'])
  expect(existsSync(join(store.folder, 'another'))).toBe(false)
  await lease.release()
  expect(await isRunning()).toBe(false)
})

test('a backup waits for the commit of a transaction that deletes blobs', async () => {
  const { url, db } = store.database
  let isAcquired = false
  let acquired: Promise<unknown> = Promise.resolve()
  await db.transaction().execute(async tx => {
    expect(await isBackupRunning(tx, systemClock.now())).toBe(false)
    acquired = acquireBackupLease(url, '20270131T081500Z-000001', systemClock).then(lease => {
      isAcquired = true
      return lease.release()
    })
    await until(waitsForLock)
    expect(isAcquired).toBe(false)
  })
  await acquired
  expect(isAcquired).toBe(true)

  async function waitsForLock(): Promise<boolean> {
    const { rows } = await sql<{ text: string | null }>`SELECT info AS text FROM information_schema.processlist
      WHERE db = DATABASE()`.execute(db)
    return rows.some(row => row.text?.includes('backup_runs') && row.text.includes('for update'))
  }
})

test.each([
  [['backup'], 'DIR is missing'],
  [['backup', '/nowhere', '--pace', '0'], '--pace: "0" is not a percentage from 1 to 100'],
  [['backup', '/nowhere', '--age', 'age1x'], '"age1x" is not an age recipient'],
  [['backup', '/nowhere', '--age', '/nowhere/file'], 'is neither an age recipient (age1…) nor a file with some'],
  [['backup', 'prune', '/nowhere'], '--keep is missing'],
  [['backup', 'verify', '/nowhere', '--identity', '/nowhere'], 'is not an age identity file'],
])('says what is wrong with %p', async ([command, ...args], sentence) => {
  const env = { MAILROOM_DATABASE_URL: store.database.url, MAILROOM_VAR: store.folder }
  const trouble = await (command === 'backup' ? backupCommand : restoreCommand).run(args, env).catch(error => error)
  expect(trouble).toBeInstanceOf(UsageError)
  expect(trouble.message).toContain(sentence)
})

test('a folder without a backup is an error', async () => {
  for (const args of [
    ['backup', 'verify', '/nowhere'],
    ['restore', '/nowhere'],
  ]) {
    const ran = await store.mailroom(args)
    expect([ran.status, ran.err]).toEqual([1, 'mailroom: There is no complete backup in /nowhere.\n'])
  }
})

test('the files of a backup can be read by their owner alone', () => {
  for (const file of listFiles(folder)) expect(statSync(join(folder, file)).mode & 0o77).toBe(0)
})
