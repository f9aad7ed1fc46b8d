import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { plusMs, systemClock } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/database/database.ts'
import { newId } from '../../src/base/ids.ts'
import { type BackupSource, createBackupSource } from '../harness/backups.ts'
import { emptyDatabase, type FreshDatabase } from '../harness/database.ts'

// A command begins in a second, and in many on a machine that has other things to do.
setDefaultTimeout(120_000)

let store: BackupSource
let target: FreshDatabase
beforeAll(async () => {
  store = await createBackupSource(1)
  target = await emptyDatabase()
}, 60_000)
afterAll(async () => {
  await target?.close()
  await store?.close()
})

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/** Someone with a passkey and a backup code who operates the instance, is signed in, and has an open link. */
async function addPerson(db: Db): Promise<void> {
  const now = systemClock.now()
  const later = plusMs(now, 3_600_000)
  const id = newId('usr')
  const factors = { password_hash: null, totp_secret: null, totp_sealed_by: null, totp_step: null }
  await db
    .insertInto('users')
    .values({ id, email: 'ann@example.com', name: 'Ann', ...factors, created_at: now, last_sign_in_at: now })
    .execute()
  await db
    .insertInto('passkeys')
    .values({
      ...{ id: newId('pky'), user_id: id, name: 'Phone', credential_id: sha256('id'), public_key: sha256('key') },
      ...{ sign_count: 4_294_967_295, transports: 'internal', host: 'localhost', created_at: now, last_used_at: null },
    })
    .execute()
  await db
    .insertInto('backup_codes')
    .values({ user_id: id, code_hash: sha256('code') })
    .execute()
  await db.insertInto('operators').values({ user_id: id, created_at: now }).execute()
  await db
    .insertInto('sessions')
    .values({
      ...{ id: newId('ses'), user_id: id, token_hash: sha256('session'), created_at: now, last_used_at: now },
      ...{ expires_at: later, confirmed_at: now, ip: '192.0.2.1', user_agent: 'Browser' },
    })
    .execute()
  await db
    .insertInto('login_links')
    .values({
      ...{ id: newId('lnk'), token_hash: sha256('link'), member_id: null, user_id: id },
      ...{ created_at: now, expires_at: later, used_at: null },
    })
    .execute()
  await db
    .insertInto('passkey_challenges')
    .values({ challenge_hash: sha256('challenge'), expires_at: later })
    .execute()
}

test('a restore brings people and their factors back, but no session and no link', async () => {
  await addPerson(store.database.db)
  const folder = join(store.folder, 'backups')
  expect((await store.mailroom(['backup', folder, '--pace', '100'])).status).toBe(0)
  const restored = await store.mailroom(['restore', folder], { MAILROOM_DATABASE_URL: target.url })
  expect([restored.status, restored.err]).toEqual([0, ''])
  expect(restored.out).toContain('Everyone has to sign in again.')

  const rowsOf = (db: Db, table: 'users' | 'passkeys' | 'backup_codes' | 'operators') =>
    db.selectFrom(table).selectAll().execute()
  for (const table of ['users', 'passkeys', 'backup_codes', 'operators'] as const) {
    const rows = await rowsOf(target.db, table)
    expect(rows).toHaveLength(1)
    expect(rows).toEqual(await rowsOf(store.database.db, table))
  }
  for (const table of ['sessions', 'login_links', 'passkey_challenges'] as const) {
    expect(await store.database.db.selectFrom(table).selectAll().execute()).toHaveLength(1)
    expect(await target.db.selectFrom(table).selectAll().execute()).toEqual([])
  }
})
