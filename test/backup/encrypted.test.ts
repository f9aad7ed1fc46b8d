import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import {
  type BackupSource,
  createBackupSource,
  inspectFiles,
  listFiles,
  runBackup,
  tableContents,
} from '../harness/backups.ts'
import { emptyDatabase } from '../harness/database.ts'

let store: BackupSource
let identity: string
let recipient: string
let identityFile: string

beforeAll(async () => {
  store = await createBackupSource(20)
  identity = await generateX25519Identity()
  recipient = await identityToRecipient(identity)
  identityFile = join(store.folder, 'identity.txt')
  writeFileSync(identityFile, `# made for a test\n${identity}\n`)
}, 120_000)

afterAll(() => store?.close())

test('a backup encrypted with age can be read only with its identity, and includes the secret key', async () => {
  const folder = join(store.folder, 'age')
  const made = await store.mailroom(['backup', folder, '--age', recipient, '--pace', '100', '--json'])
  expect([made.status, made.err]).toEqual([0, ''])
  const backedUp = await tableContents(store.database.db)
  expect(JSON.parse(made.out)).toMatchObject({ encryption: 'age', secret_key_included: true })
  const encrypted = listFiles(folder).filter(file => !file.endsWith('manifest.json') && !file.includes('catalog'))
  expect(encrypted.every(file => file.endsWith('.zst.age'))).toBe(true)
  for (const file of encrypted)
    expect(readFileSync(join(folder, file)).toString('latin1')).toStartWith('age-encryption.org/v1')

  const closed = await store.mailroom(['backup', 'verify', folder])
  expect([closed.status, closed.err]).toEqual([2, expect.stringContaining('--identity is missing')])
  const quick = await store.mailroom(['backup', 'verify', folder, '--quick'])
  expect([quick.status, quick.out]).toEqual([0, expect.stringContaining('Encrypted files were not decrypted')])
  const another = await generateX25519Identity()
  expect((await inspectFiles(folder, { keys: { identities: [another] } }))[0]).toContain('.age cannot be decrypted')
  expect(await inspectFiles(folder, { keys: { identities: [identity] } })).toEqual([])

  const target = await emptyDatabase()
  const varFolder = join(store.folder, 'new var')
  try {
    const ran = await store.mailroom(['restore', folder, '--identity', identityFile], {
      MAILROOM_DATABASE_URL: target.url,
      MAILROOM_VAR: varFolder,
      MAILROOM_SECRET_KEY: '',
    })
    expect([ran.status, ran.err]).toEqual([0, ''])
    expect(readFileSync(join(varFolder, 'secret.key'), 'utf8')).toBe(`${store.secretKey}\n`)
    expect(statSync(join(varFolder, 'secret.key')).mode & 0o777).toBe(0o600)
    expect(await tableContents(target.db)).toEqual(backedUp)
  } finally {
    await target.close()
  }
}, 120_000)

test('the next encrypted backup needs no identity, and reuses no content that is encrypted for other keys', async () => {
  const folder = join(store.folder, 'next')
  const encryption = { kind: 'age', recipients: [recipient] } as const
  await runBackup(store, folder, { encryption })
  expect((await runBackup(store, folder, { encryption })).newBlobs).toBe(0)
  const other = { kind: 'age', recipients: [await identityToRecipient(await generateX25519Identity())] } as const
  const forOthers = await runBackup(store, folder, { encryption: other })
  expect(forOthers.newBlobs).toBe(forOthers.manifest.blobs)
  const forAll = await runBackup(store, folder)
  expect(forAll.newBlobs).toBe(forAll.manifest.blobs)
  expect(await inspectFiles(folder)).toEqual([])
})

test('a backup encrypted for a GnuPG key is read with gpg', async () => {
  const home = mkdtempSync(join(tmpdir(), 'gpg-'))
  const gpg = { GNUPGHOME: home, PATH: process.env['PATH'] ?? '' }
  const folder = join(store.folder, 'gpg')
  try {
    const args = ['--batch', '--passphrase', '', '--quick-generate-key', 'operator@example.com', 'default', 'default']
    const made = Bun.spawnSync(['gpg', ...args], { env: gpg })
    expect([made.exitCode, String(made.stderr)]).toEqual([0, expect.any(String)])
    const ran = await store.mailroom(
      ['backup', folder, '--gpg', 'operator@example.com', '--pace', '100', '--json'],
      gpg,
    )
    expect([ran.status, ran.err]).toEqual([0, ''])
    expect(listFiles(folder).some(file => file.endsWith('.segment.zst.gpg'))).toBe(true)
    const verified = await store.mailroom(['backup', 'verify', folder, '--quick', '--json'], gpg)
    expect([verified.status, verified.err]).toEqual([0, ''])
    expect(JSON.parse(verified.out)).toMatchObject({ whole: true, blobs: 23 })

    const unknown = await store.mailroom(['backup', join(store.folder, 'none'), '--gpg', 'nobody@example.com'], gpg)
    expect([unknown.status, unknown.err]).toEqual([1, expect.stringContaining('gpg: ')])
    expect(existsSync(join(store.folder, 'none', 'backups'))).toBe(false)
  } finally {
    Bun.spawnSync(['gpgconf', '--kill', 'all'], { env: gpg })
    rmSync(home, { recursive: true, force: true })
  }
}, 120_000)
