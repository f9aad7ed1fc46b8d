import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { plusMs, systemClock } from '../../../src/base/clock.ts'
import { openDatabase } from '../../../src/base/database/database.ts'
import { migrationNames } from '../../../src/base/database/migrate.ts'
import { newSortableToken } from '../../../src/base/ids.ts'
import { startMariadb } from '../../../src/cli/private/mariadb.ts'
import { emptyDatabase, type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { type DoctorFixtures, openDoctorFixtures } from './fixtures.ts'

let doctor: DoctorFixtures

beforeAll(async () => {
  doctor = await openDoctorFixtures()
})
afterAll(() => doctor.close())

test('a well configured database passes all checks', async () => {
  for (const name of ['connection', 'packet_size', 'connections', 'writable', 'settings', 'migrations'])
    expect(await doctor.run(name)).toMatchObject({ name, level: 'ok', seen: expect.any(String) })
})

test('a database that would lose mail in a crash, with small packets and few connections, is reported with the settings to change', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-doctor-mariadb-'))
  const options = [
    '--innodb-flush-log-at-trx-commit=2',
    '--sync-binlog=0',
    '--max-allowed-packet=4M',
    '--max-connections=20',
    '--binlog-format=STATEMENT',
    '--character-set-server=latin1',
  ]
  const server = await startMariadb({ folder, options })
  const bad = openDatabase(server.url, 2)
  try {
    const runCheck = (name: string) => doctor.run(name, { MAILROOM_DATABASE_URL: server.url }, { db: bad.db })
    expect(await runCheck('durability')).toMatchObject({
      level: 'error',
      seen: expect.stringMatching(/innodb_flush_log_at_trx_commit is 2.*sync_binlog is 0/),
      todo: expect.stringMatching(/innodb_flush_log_at_trx_commit = 1.*sync_binlog = 1/),
    })
    expect(await runCheck('packet_size')).toMatchObject({
      level: 'error',
      seen: expect.stringContaining('max_allowed_packet is 4 MiB'),
      todo: expect.stringContaining('max_allowed_packet = 16M'),
    })
    expect(await runCheck('connections')).toMatchObject({
      level: 'error',
      todo: expect.stringContaining('max_connections'),
    })
    expect(await runCheck('settings')).toMatchObject({
      level: 'error',
      seen: expect.stringMatching(/binlog_format is STATEMENT.*latin1/),
    })
    expect(await runCheck('migrations')).toMatchObject({ level: 'note', seen: 'there are no tables yet' })
    await sql`SET GLOBAL read_only = 1`.execute(bad.db)
    expect(await runCheck('writable')).toMatchObject({ level: 'error', todo: expect.stringContaining('primary') })
  } finally {
    await bad.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a database that is away is reported once, and the other checks that need it are skipped', async () => {
  const away = openDatabase('mysql://mailroom@127.0.0.1:1/mailroom', 1)
  try {
    expect(await doctor.run('connection', {}, { db: away.db })).toMatchObject({
      level: 'error',
      todo: expect.stringContaining('MAILROOM_DATABASE_URL'),
    })
    for (const name of ['durability', 'migrations', 'client_addresses', 'queue'])
      expect(await doctor.run(name, {}, { db: away.db })).toMatchObject({
        level: 'skipped',
        seen: 'the database is not available',
      })
  } finally {
    await away.close()
  }
})

test('a database that refuses the login, and one without tables, are reported once too', async () => {
  const wrong = new URL(doctor.database.url)
  wrong.username = 'nobody'
  const shut = openDatabase(wrong.href, 1)
  const empty = await emptyDatabase(1)
  try {
    expect(await doctor.run('connection', {}, { db: shut.db })).toMatchObject({
      level: 'error',
      seen: expect.stringContaining('denied'),
    })
    expect((await doctor.run('connection', {}, { db: empty.db })).level).toBe('ok')
    expect((await doctor.run('migrations', {}, { db: empty.db })).level).toBe('note')
    for (const name of ['client_addresses', 'queue', 'mta_sts', 'disk']) {
      expect((await doctor.run(name, {}, { db: shut.db })).seen).toBe('the database is not available')
      expect((await doctor.run(name, {}, { db: empty.db })).seen).toBe('the tables have not been created yet')
    }
  } finally {
    await shut.close()
    await empty.close()
  }
})

async function withDatabase(work: (database: FreshDatabase) => Promise<void>): Promise<void> {
  const database = await freshDatabase(2)
  try {
    await work(database)
  } finally {
    await database.close()
  }
}

test('pending migrations are named, and so are those of a newer version and an unfinished restore', () =>
  withDatabase(async ({ db }) => {
    const last = migrationNames.at(-1) ?? ''
    await sql`DELETE FROM kysely_migration WHERE name = ${last}`.execute(db)
    expect(await doctor.run('migrations', {}, { db })).toMatchObject({
      level: 'warning',
      seen: `not applied yet: ${last}`,
      todo: expect.stringContaining('./mailroom migrate'),
    })
    await sql`INSERT INTO kysely_migration (name, timestamp) VALUES (${last}, ''), ('9999-later', '')`.execute(db)
    expect(await doctor.run('migrations', {}, { db })).toMatchObject({
      level: 'note',
      seen: expect.stringContaining('9999-later'),
    })
    await sql`INSERT INTO schema_floor (migration) VALUES ('9999-later')`.execute(db)
    expect(await doctor.run('migrations', {}, { db })).toMatchObject({
      level: 'error',
      todo: expect.stringContaining('start that version again'),
    })
    await db
      .insertInto('restores')
      .values({ id: newSortableToken(), started_at: systemClock.now(), steps_done: 1, finished_at: null })
      .execute()
    expect(await doctor.run('migrations', {}, { db })).toMatchObject({
      level: 'error',
      todo: expect.stringContaining('mailroom restore'),
    })
  }))

test('a clock that differs from that of the database server is reported', async () => {
  expect((await doctor.run('clock')).seen).not.toContain('apart')
  const ahead = { now: () => plusMs(systemClock.now(), 30_000) }
  const behind = { now: () => plusMs(systemClock.now(), -600_000) }
  expect(await doctor.run('clock', {}, { clock: ahead })).toMatchObject({
    level: 'warning',
    seen: expect.stringContaining('seconds apart'),
    todo: expect.stringContaining('chrony'),
  })
  expect((await doctor.run('clock', {}, { clock: behind })).level).toBe('error')
})

test('a disk with too little free space is reported', async () => {
  expect(['ok', 'warning']).toContain((await doctor.run('disk')).level)
  expect(await doctor.run('disk', { MAILROOM_LEAST_FREE_BYTES: '900000000000000' })).toMatchObject({
    level: 'error',
    todo: expect.stringContaining('./mailroom retention plan'),
  })
})

test('a folder that cannot be used is reported, also while the database is away', async () => {
  expect((await doctor.run('folder')).level).toBe('ok')
  expect((await doctor.run('folder', { MAILROOM_VAR: '/nonexistent/var' })).level).toBe('skipped')
  expect(await doctor.run('folder', { MAILROOM_VAR: '/etc/hostname/var' })).toMatchObject({
    level: 'error',
    todo: expect.stringContaining('MAILROOM_VAR'),
  })
})
