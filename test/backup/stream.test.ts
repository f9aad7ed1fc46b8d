import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BackupSource,
  createBackupSource,
  inspectFiles,
  tableContents,
  withoutProgress,
} from '../harness/backups.ts'
import { type CliResult, program } from '../harness/cli.ts'
import { emptyDatabase } from '../harness/database.ts'

// A command begins in a second, and in many on a machine that has other things to do.
setDefaultTimeout(120_000)

let store: BackupSource
let archive: Uint8Array

beforeAll(async () => {
  store = await createBackupSource(20)
  const made = await piped(['backup', '-', '--pace', '100'], new Uint8Array())
  expect(made.status).toBe(0)
  expect(made.err).toContain('Created the backup ')
  archive = made.bytes
}, 120_000)

afterAll(() => store?.close())

/** `./mailroom` with this on its standard input. */
async function piped(args: readonly string[], input: Uint8Array, more: Readonly<Record<string, string>> = {}) {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('MAILROOM_'))
  const { database, folder, secretKey } = store
  const running = Bun.spawn([process.execPath, '--no-env-file', program, ...args], {
    cwd: '/',
    env: {
      ...Object.fromEntries(others),
      MAILROOM_DATABASE_URL: database.url,
      MAILROOM_VAR: folder,
      MAILROOM_SECRET_KEY: secretKey,
      ...more,
    },
    stdin: input,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [bytes, err, status] = await Promise.all([
    new Response(running.stdout).bytes(),
    new Response(running.stderr).text(),
    running.exited,
  ])
  const ran: CliResult & { readonly bytes: Uint8Array } = {
    status,
    err: withoutProgress(err),
    bytes,
    out: Buffer.from(bytes).toString(),
  }
  return ran
}

test('a stream is a tar archive that unpacks to a folder of backups', async () => {
  const folder = join(store.folder, 'unpacked')
  mkdirSync(folder)
  const tar = Bun.spawnSync(['tar', '-x', '-C', folder], { stdin: archive })
  expect([tar.exitCode, String(tar.stderr)]).toEqual([0, ''])
  expect(await inspectFiles(folder)).toEqual([])
})

test('a stream is verified and restored from standard input', async () => {
  const streamed = await tableContents(store.database.db)
  const verified = await piped(['backup', 'verify', '-', '--quick', '--json'], archive)
  expect([verified.status, verified.err]).toEqual([0, ''])
  expect(JSON.parse(verified.out)).toMatchObject({ whole: true, restored: false, blobs: 23 })
  const target = await emptyDatabase()
  try {
    const restored = await piped(['restore', '-'], archive, { MAILROOM_DATABASE_URL: target.url })
    expect([restored.status, restored.err]).toEqual([0, ''])
    expect(await tableContents(target.db)).toEqual(streamed)
  } finally {
    await target.close()
  }
}, 120_000)

test.each([
  [
    'in the middle of a file',
    (bytes: Uint8Array) => bytes.subarray(0, bytes.length / 2),
    /^mailroom: The stream is not a backup, or is cut short: /,
  ],
  ['before its manifest', withoutManifest, /manifest.json is missing/],
  ['at once', () => new Uint8Array(), /There is no complete backup in/],
])('a stream that ends %s is an error', async (_, cut, sentence) => {
  const ran = await piped(['backup', 'verify', '-', '--quick'], cut(archive))
  expect([ran.status, ran.out]).toEqual([1, ''])
  expect(ran.err).toMatch(sentence)
})

/** Up to the header of the last file. */
function withoutManifest(bytes: Uint8Array): Uint8Array {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).lastIndexOf('/manifest.json')
  return bytes.subarray(0, Math.floor(header / 512) * 512)
}
