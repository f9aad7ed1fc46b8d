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
import {
  createTestOrganization,
  type DomainsFixture,
  openDomainsFixture,
  ownedDomain,
  type TestOrganization,
} from '../fixtures.ts'

let fixture: DomainsFixture
let organization: TestOrganization
const folders: string[] = []
const log = pino({ level: 'silent' })

beforeAll(async () => {
  fixture = await openDomainsFixture()
  organization = await createTestOrganization(fixture.deps.db)
})
afterAll(async () => {
  await fixture.close()
  for (const folder of folders) rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  await fixture.deps.db.deleteFrom('secret_keys').execute()
})

const secrets = () => secretsOf([randomBytes(32)])
const folder = () => {
  const created = mkdtempSync(join(tmpdir(), 'mailroom-keys-'))
  folders.push(created)
  return created
}
const loadSecrets = (options: Parameters<typeof loadOrCreateSecrets>[1]) =>
  loadOrCreateSecrets(fixture.deps.db, options, { clock: systemClock, log })

/** The contents of the key tables, as a dump would show them. */
const dump = async () =>
  JSON.stringify([
    await fixture.deps.db.selectFrom('dkim_keys').selectAll().execute(),
    await fixture.deps.db.selectFrom('secret_keys').selectAll().execute(),
    await fixture.deps.db.selectFrom('domain_records').selectAll().execute(),
  ])
const keyOf = async (id: string, find = signingKeyFinder(fixture.deps.secrets)) =>
  (await find(fixture.deps.db, [id as Id<'dom'>])).get(id as Id<'dom'>)?.[0]?.privateKey

test('a database dump contains no private key', async () => {
  const { id } = await ownedDomain(fixture, organization, 'sealed.example')
  const key = (await keyOf(id)) ?? ''
  expect(key).toStartWith('-----BEGIN PRIVATE KEY-----')
  const dumped = await dump()
  expect(dumped).not.toContain('PRIVATE KEY')
  for (const line of key.split('\n').slice(1, -2)) {
    expect(dumped).not.toContain(line)
    expect(dumped).not.toContain(Buffer.from(line).toString('base64').slice(0, 60))
  }
})

test("one domain's sealed key cannot be unsealed in another's row, and does not stop other domains' mail", async () => {
  const [mine, theirs] = [
    await ownedDomain(fixture, organization, 'mine.example'),
    await ownedDomain(fixture, organization, 'theirs.example'),
  ]
  await sql`UPDATE dkim_keys one INNER JOIN dkim_keys other ON other.domain_id = ${theirs.id}
    SET one.private_key = other.private_key WHERE one.domain_id = ${mine.id}`.execute(fixture.deps.db)
  const found = await signingKeyFinder(fixture.deps.secrets)(fixture.deps.db, [
    mine.id as Id<'dom'>,
    theirs.id as Id<'dom'>,
  ])
  expect([...found.keys()]).toEqual([theirs.id as Id<'dom'>])
})

describe('at startup', () => {
  const plain = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey

  test('unsealed keys are sealed, by several processes at once', async () => {
    const { id } = await ownedDomain(fixture, organization, 'plain.example')
    await fixture.deps.db
      .updateTable('dkim_keys')
      .set({ private_key: plain, sealed_by: null })
      .where('domain_id', '=', id as Id<'dom'>)
      .execute()
    expect(await keyOf(id)).toBe(plain)
    await Promise.all([1, 2, 3].map(() => resealDkimKeys(fixture.deps.db, fixture.deps.secrets, log)))
    expect(await dump()).not.toContain('PRIVATE KEY')
    expect(await keyOf(id)).toBe(plain)
  })

  test('all keys are sealed again with a new secret key, and the old one is no longer needed', async () => {
    const { id } = await ownedDomain(fixture, organization, 'changed.example')
    const before = await keyOf(id)
    const [one, other] = [randomBytes(32), randomBytes(32)]
    const both = secretsOf([other, one])
    await fixture.deps.db
      .deleteFrom('dkim_keys')
      .where('domain_id', '!=', id as Id<'dom'>)
      .execute()
    await inTransaction(fixture.deps.db, async tx => {
      const row = await tx.selectFrom('dkim_keys').selectAll().executeTakeFirstOrThrow()
      const sealed = secretsOf([one]).seal(before ?? '', `dkim ${row.domain_id} ${row.selector}`)
      await tx.updateTable('dkim_keys').set({ private_key: sealed.text, sealed_by: sealed.keyId }).execute()
    })
    await loadSecrets({ secrets: secretsOf([one]), varFolder: folder() })
    await expect(loadSecrets({ secrets: secretsOf([other]), varFolder: folder() })).rejects.toThrow('is encrypted with')
    await loadSecrets({ secrets: both, varFolder: folder() })
    await resealDkimKeys(fixture.deps.db, both, log)
    await loadSecrets({ secrets: secretsOf([other]), varFolder: folder() })
    expect(await keyOf(id, signingKeyFinder(secretsOf([other])))).toBe(before)
    await expect(loadSecrets({ secrets: secretsOf([one]), varFolder: folder() })).rejects.toThrow('is encrypted with')
  })

  test('without a secret key one is generated and stored, once', async () => {
    const varFolder = folder()
    const [one, other] = await Promise.all([1, 2].map(() => loadSecrets({ secrets: undefined, varFolder })))
    expect(one?.id).toBe(other?.id)
    expect((await loadSecrets({ secrets: undefined, varFolder })).id).toBe(one?.id ?? '')
  })

  test('of two processes with different secret keys only one starts', async () => {
    const taken = await Promise.allSettled([1, 2].map(() => loadSecrets({ secrets: secrets(), varFolder: folder() })))
    expect(taken.map(promiseSettledResult => promiseSettledResult.status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('no key is generated when the database is sealed with another: `serve` reports it and exits', async () => {
    const noted = await loadSecrets({ secrets: secrets(), varFolder: folder() })
    const varFolder = folder()
    const { status, err } = await runCommand(['serve'], {
      MAILROOM_DATABASE_URL: fixture.databaseUrl,
      MAILROOM_PROVIDER: 'sandbox',
      MAILROOM_VAR: varFolder,
      MAILROOM_HTTP_LISTEN: '127.0.0.1:0',
      MAILROOM_SMTP_LISTEN: '127.0.0.1:0',
      MAILROOM_METRICS_LISTEN: '127.0.0.1:0',
    })
    expect([status, err]).toEqual([2, expect.stringContaining(`is encrypted with the secret key ${noted.id}`)])
    expect(() => readFileSync(join(varFolder, 'secret.key'))).toThrow()
  })

  test('a malformed secret key is refused without being printed', async () => {
    const { status, err } = await runCommand(['org', 'list'], { MAILROOM_SECRET_KEY: 'aGFsZiBhIGtleQ==' })
    expect(status).toBe(2)
    expect(err).toContain('MAILROOM_SECRET_KEY is "…"; expected 32 bytes in base64')
    expect(err).not.toContain('aGFsZiBhIGtleQ')
  })
})
