import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import pino from 'pino'
import { systemClock } from '../../../src/base/clock.ts'
import { inTransaction } from '../../../src/base/database/database.ts'
import type { Id } from '../../../src/base/ids.ts'
import { loadOrCreateSecrets } from '../../../src/base/secrets/secret-keys.ts'
import { secretsOf } from '../../../src/base/secrets/secrets.ts'
import { signingKeyFinder } from '../../../src/domains/dkim/keys.ts'
import { resealDkimKeys } from '../../../src/domains/dkim/seal-keys.ts'
import { runCommand } from '../../harness/cli.ts'
import { newTenant, openWorld, ownedDomain, type TestTenant, type World } from '../fixtures.ts'

let world: World
let tenant: TestTenant
const folders: string[] = []
const log = pino({ level: 'silent' })

beforeAll(async () => {
  world = await openWorld()
  tenant = await newTenant(world.use.db)
})
afterAll(async () => {
  await world.close()
  for (const folder of folders) rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  await world.use.db.deleteFrom('secret_keys').execute()
})

const secrets = () => secretsOf([randomBytes(32)])
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'mailroom-keys-'))
  folders.push(made)
  return made
}
const take = (given: Parameters<typeof loadOrCreateSecrets>[1]) =>
  loadOrCreateSecrets(world.use.db, given, { clock: systemClock, log })

/** All that the tables hold of keys, as a dump would have it. */
const dump = async () =>
  JSON.stringify([
    await world.use.db.selectFrom('dkim_keys').selectAll().execute(),
    await world.use.db.selectFrom('secret_keys').selectAll().execute(),
    await world.use.db.selectFrom('domain_records').selectAll().execute(),
  ])
const keyOf = async (id: string, find = signingKeyFinder(world.use.secrets)) =>
  (await find(world.use.db, [id as Id<'dom'>])).get(id as Id<'dom'>)?.[0]?.privateKey

test('a dump of the database holds no private key', async () => {
  const { id } = await ownedDomain(world, tenant, 'sealed.example')
  const key = (await keyOf(id)) ?? ''
  expect(key).toStartWith('-----BEGIN PRIVATE KEY-----')
  const dumped = await dump()
  expect(dumped).not.toContain('PRIVATE KEY')
  for (const line of key.split('\n').slice(1, -2)) {
    expect(dumped).not.toContain(line)
    expect(dumped).not.toContain(Buffer.from(line).toString('base64').slice(0, 60))
  }
})

test("one domain's sealed key opens in no other's place, and holds nobody else's mail up", async () => {
  const [mine, theirs] = [
    await ownedDomain(world, tenant, 'mine.example'),
    await ownedDomain(world, tenant, 'theirs.example'),
  ]
  await sql`UPDATE dkim_keys one INNER JOIN dkim_keys other ON other.domain_id = ${theirs.id}
    SET one.private_key = other.private_key WHERE one.domain_id = ${mine.id}`.execute(world.use.db)
  const found = await signingKeyFinder(world.use.secrets)(world.use.db, [mine.id as Id<'dom'>, theirs.id as Id<'dom'>])
  expect([...found.keys()]).toEqual([theirs.id as Id<'dom'>])
})

describe('at the start', () => {
  const plain = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey

  test('keys from before there was a secret key are sealed, by several processes at once', async () => {
    const { id } = await ownedDomain(world, tenant, 'plain.example')
    await world.use.db
      .updateTable('dkim_keys')
      .set({ private_key: plain, sealed_by: null })
      .where('domain_id', '=', id as Id<'dom'>)
      .execute()
    expect(await keyOf(id)).toBe(plain)
    await Promise.all([1, 2, 3].map(() => resealDkimKeys(world.use.db, world.use.secrets, log)))
    expect(await dump()).not.toContain('PRIVATE KEY')
    expect(await keyOf(id)).toBe(plain)
  })

  test('a new secret key seals all anew, and the old one is needed no more', async () => {
    const { id } = await ownedDomain(world, tenant, 'changed.example')
    const before = await keyOf(id)
    const [one, other] = [randomBytes(32), randomBytes(32)]
    const both = secretsOf([other, one])
    await world.use.db
      .deleteFrom('dkim_keys')
      .where('domain_id', '!=', id as Id<'dom'>)
      .execute()
    await inTransaction(world.use.db, async tx => {
      const row = await tx.selectFrom('dkim_keys').selectAll().executeTakeFirstOrThrow()
      const sealed = secretsOf([one]).seal(before ?? '', `dkim ${row.domain_id} ${row.selector}`)
      await tx.updateTable('dkim_keys').set({ private_key: sealed.text, sealed_by: sealed.keyId }).execute()
    })
    await take({ secrets: secretsOf([one]), varFolder: folder() })
    await expect(take({ secrets: secretsOf([other]), varFolder: folder() })).rejects.toThrow('is sealed with')
    await take({ secrets: both, varFolder: folder() })
    await resealDkimKeys(world.use.db, both, log)
    await take({ secrets: secretsOf([other]), varFolder: folder() })
    expect(await keyOf(id, signingKeyFinder(secretsOf([other])))).toBe(before)
    await expect(take({ secrets: secretsOf([one]), varFolder: folder() })).rejects.toThrow('is sealed with')
  })

  test('without a secret key one is made and kept, once', async () => {
    const varFolder = folder()
    const [one, other] = await Promise.all([1, 2].map(() => take({ secrets: undefined, varFolder })))
    expect(one?.id).toBe(other?.id)
    expect((await take({ secrets: undefined, varFolder })).id).toBe(one?.id ?? '')
  })

  test('of two with keys of their own at once only one goes on', async () => {
    const taken = await Promise.allSettled([1, 2].map(() => take({ secrets: secrets(), varFolder: folder() })))
    expect(taken.map(promiseSettledResult => promiseSettledResult.status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('no key is made where the database is sealed with another: `serve` says so and ends', async () => {
    const noted = await take({ secrets: secrets(), varFolder: folder() })
    const varFolder = folder()
    const { status, err } = await runCommand(['serve'], {
      MAILROOM_DATABASE_URL: world.databaseUrl,
      MAILROOM_PROVIDER: 'sandbox',
      MAILROOM_VAR: varFolder,
      MAILROOM_HTTP_LISTEN: '127.0.0.1:0',
      MAILROOM_SMTP_LISTEN: '127.0.0.1:0',
      MAILROOM_METRICS_LISTEN: '127.0.0.1:0',
    })
    expect([status, err]).toEqual([2, expect.stringContaining(`is encrypted with the secret key ${noted.id}`)])
    expect(() => readFileSync(join(varFolder, 'secret.key'))).toThrow()
  })

  test('a malformed secret key is refused without being shown', async () => {
    const { status, err } = await runCommand(['org', 'list'], { MAILROOM_SECRET_KEY: 'aGFsZiBhIGtleQ==' })
    expect(status).toBe(2)
    expect(err).toContain('MAILROOM_SECRET_KEY is "…"; expected 32 bytes in base64')
    expect(err).not.toContain('aGFsZiBhIGtleQ')
  })
})
