import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { listBackups } from '../../src/backup/files/folder.ts'
import { selectRestore } from '../../src/base/database/restores-table.ts'
import {
  type BackupSource,
  createBackupSource,
  inspectFiles,
  listFiles,
  runBackup,
  tableContents,
} from '../harness/backups.ts'
import { program } from '../harness/cli.ts'
import { emptyDatabase } from '../harness/database.ts'
import { until } from '../harness/until.ts'

let store: BackupSource

beforeAll(async () => {
  store = await createBackupSource(50)
}, 120_000)

afterAll(() => store?.close())

function start(args: readonly string[], databaseUrl: string) {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('MAILROOM_'))
  return Bun.spawn([process.execPath, '--no-env-file', program, ...args], {
    cwd: '/',
    env: {
      ...Object.fromEntries(others),
      MAILROOM_DATABASE_URL: databaseUrl,
      MAILROOM_VAR: store.folder,
      MAILROOM_SECRET_KEY: store.secretKey,
    },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
}

function hasOutbox(folder: string): boolean {
  return existsSync(folder) && listFiles(folder).some(file => file.includes('tables/outbox'))
}

/** Nobody else reads or writes this table during the work. */
async function withLocked(db: BackupSource['database']['db'], table: string, work: () => Promise<void>): Promise<void> {
  await db.connection().execute(async connection => {
    await sql`LOCK TABLES ${sql.table(table)} WRITE`.execute(connection)
    try {
      await work()
    } finally {
      await sql`UNLOCK TABLES`.execute(connection)
    }
  })
}

test('a killed backup leaves nothing that looks complete, and the next one removes what it left', async () => {
  const folder = join(store.folder, 'killed')
  await withLocked(store.database.db, 'blob_chunks', async () => {
    const child = start(['backup', folder], store.database.url)
    await until(() => hasOutbox(folder), { what: 'tables are written' })
    child.kill('SIGKILL')
    await child.exited
  })
  expect(listFiles(folder).length).toBeGreaterThan(0)
  expect(listBackups(folder)).toEqual([])
  const { manifest } = await runBackup(store, folder)
  expect(listBackups(folder)).toEqual([manifest.id])
  expect(listFiles(folder).every(file => file.includes(manifest.id) && !file.includes('.partial'))).toBe(true)
  expect(await inspectFiles(folder)).toEqual([])
}, 120_000)

test('an aborted backup removes what it wrote', async () => {
  const folder = join(store.folder, 'aborted')
  const aborting = new AbortController()
  let aborted: Promise<unknown> = Promise.resolve()
  await withLocked(store.database.db, 'blob_chunks', async () => {
    aborted = runBackup(store, folder, { signal: aborting.signal }).catch((error: Error) => error.message)
    await until(() => hasOutbox(folder), { what: 'tables are written' })
    aborting.abort(new Error('aborted by the test'))
  })
  expect(await aborted).toBe('aborted by the test')
  expect(listFiles(folder)).toEqual([])
}, 120_000)

test('a killed restore keeps Mailroom from using the database, and continues when it is run again', async () => {
  const folder = join(store.folder, 'whole')
  await runBackup(store, folder)
  const target = await emptyDatabase()
  const elsewhere = { MAILROOM_DATABASE_URL: target.url }
  try {
    const child = start(['restore', folder], target.url)
    await until(async () => (await selectRestore(target.db).catch(() => undefined)) !== undefined, { what: 'it began' })
    // The content of blobs is restored last.
    await withLocked(target.db, 'blob_chunks', async () => {
      await until(async () => ((await selectRestore(target.db))?.steps_done ?? 0) > 5, { what: 'rows are loaded' })
      child.kill('SIGKILL')
      await child.exited
    })
    const stopped = await selectRestore(target.db)
    expect(stopped?.finished_at).toBeNull()

    const migrated = await store.mailroom(['migrate'], elsewhere)
    expect([migrated.status, migrated.err]).toEqual([2, expect.stringContaining('was not finished')])

    const again = await store.mailroom(['restore', folder, '--json'], elsewhere)
    expect([again.status, again.err]).toEqual([0, ''])
    expect(JSON.parse(again.out)).toMatchObject({ held: 50, disabled_keys: 1 })
    expect(await tableContents(target.db)).toEqual(await tableContents(store.database.db))
    expect((await store.mailroom(['migrate'], elsewhere)).status).toBe(0)
  } finally {
    await target.close()
  }
}, 120_000)
