import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findBackup } from '../../src/backup/files/folder.ts'
import { type Manifest, writeManifest } from '../../src/backup/format/manifest.ts'
import {
  type BackupSource,
  createBackupSource,
  flipBit,
  inspectFiles,
  runBackup,
  tableContents,
} from '../harness/backups.ts'
import { emptyDatabase } from '../harness/database.ts'

// A command begins in a second, and in many on a machine that has other things to do.
setDefaultTimeout(120_000)

let store: BackupSource
let folder: string
let manifest: Manifest
/** A file of each kind. */
let files: Readonly<Record<'table' | 'catalog' | 'segment' | 'manifest', string>>

beforeAll(async () => {
  store = await createBackupSource(20)
  folder = join(store.folder, 'backups')
  await runBackup(store, folder)
  manifest = await findBackup(folder, undefined)
  const nameOf = (all: readonly { readonly name: string }[] | undefined) => all?.[0]?.name ?? ''
  files = {
    table: nameOf(manifest.tables.find(table => table.name === 'emails')?.files),
    catalog: nameOf(manifest.catalog),
    segment: nameOf(manifest.segments),
    manifest: `backups/${manifest.id}/manifest.json`,
  }
}, 120_000)

afterAll(() => store?.close())

const damages = {
  'a bit is flipped': flipBit,
  'its end is missing': (path: string) => {
    const whole = readFileSync(path)
    truncateSync(path, statSync(path).size - 1)
    return () => writeFileSync(path, whole)
  },
  'it is missing': (path: string) => {
    renameSync(path, `${path}.away`)
    return () => renameSync(`${path}.away`, path)
  },
}

for (const kind of ['table', 'catalog', 'segment', 'manifest'] as const)
  for (const [what, damage] of Object.entries(damages))
    test(`a ${kind} file is named when ${what}`, async () => {
      expect(await inspectFiles(folder)).toEqual([])
      const repair = damage(join(folder, files[kind]))
      const found = await inspectFiles(folder).catch((error: Error) => [error.message])
      repair()
      expect(found[0]).toStartWith(`${files[kind]} `)
      // For a damaged segment the blobs in it are listed too.
      if (kind === 'segment') expect(found[1]).toMatch(/ contained the blobs blb_\w{26}, blb_/)
      else expect(found.length).toBe(1)
    })

test('a change of any byte of a manifest is found', async () => {
  const path = join(folder, files.manifest)
  const whole = readFileSync(path)
  for (let at = 0; at < whole.length; at += 37) {
    const altered = Buffer.from(whole)
    altered[at] = (altered[at] ?? 0) ^ 1
    writeFileSync(path, altered)
    expect(await findBackup(folder, undefined).catch((error: Error) => error.message)).toContain(files.manifest)
  }
  writeFileSync(path, whole)
})

test('verify and restore name what is damaged; verify records it, and restore changes nothing', async () => {
  const target = await emptyDatabase()
  const repair = flipBit(join(folder, files.segment))
  try {
    const verified = await store.mailroom(['backup', 'verify', folder, '--json'])
    expect([verified.status, JSON.parse(verified.out)]).toMatchObject([1, { whole: false, restored: false }])
    expect(JSON.parse(verified.out).damages[0]).toBe(`${files.segment} is altered`)
    const [made] = await store.database.db.selectFrom('backups').selectAll().execute()
    expect(made).toMatchObject({ proven_at: null, refuted_at: expect.any(String) })

    const restored = await store.mailroom(['restore', folder], { MAILROOM_DATABASE_URL: target.url })
    expect([restored.status, restored.out]).toEqual([1, ''])
    expect(restored.err).toContain(`is damaged; nothing was restored:\n  ${files.segment} is altered\n`)
    expect(await tableContents(target.db)).toEqual({})
  } finally {
    repair()
    await target.close()
  }
})

test('content that an earlier backup lost is copied again by the next', async () => {
  const lossy = join(store.folder, 'lost')
  const first = await runBackup(store, lossy)
  renameSync(join(lossy, first.manifest.segments[0]?.name ?? ''), join(store.folder, 'away'))
  const second = await runBackup(store, lossy)
  expect(second.newBlobs).toBeGreaterThan(0)
  expect(await inspectFiles(lossy)).toEqual([])
})

test('a backup of a newer version is refused before anything is changed', async () => {
  const target = await emptyDatabase()
  const path = join(folder, files.manifest)
  const newer = { ...manifest, migrations: [...manifest.migrations, '9999-later'] }
  writeFileSync(path, writeManifest(newer))
  try {
    const ran = await store.mailroom(['restore', folder], { MAILROOM_DATABASE_URL: target.url })
    expect([ran.status, ran.err]).toEqual([
      1,
      expect.stringContaining('newer version of Mailroom, with the migrations 9999-later'),
    ])
    expect(await tableContents(target.db)).toEqual({})
  } finally {
    writeFileSync(path, writeManifest(manifest))
    await target.close()
  }
})
