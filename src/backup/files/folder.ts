import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CommandError } from '../../base/operator-error.ts'
import { isBackupId, type Manifest, readManifest } from '../format/manifest.ts'
import { backupFolder, isSegmentName, manifestName, segmentsFolder } from './names.ts'
import type { BackupSink } from './sink.ts'

const partialSuffix = '.partial'
/** More than any file of ours has, encrypted. */
const maxFileBytes = 64 * 1024 * 1024
const maxManifestBytes = 512 * 1024 * 1024

/** A folder of backups: what several have in common is there once. */
export function folderSink(folder: string, id: string): BackupSink {
  const beside = `${backupFolder(id)}${partialSuffix}`
  const made: string[] = []
  const placeOf = (name: string) => join(folder, name.replace(`${backupFolder(id)}/`, `${beside}/`))
  return {
    async write(name, bytes) {
      made.push(placeOf(name))
      await writeDurably(placeOf(name), bytes)
    },
    async finish(manifest) {
      await writeDurably(placeOf(manifestName(id)), manifest)
      await rename(join(folder, beside), join(folder, backupFolder(id)))
      await syncFolder(join(folder, dirname(beside)))
    },
    async abandon() {
      for (const value of made) await rm(value, { force: true })
      await rm(join(folder, beside), { recursive: true, force: true })
    },
  }
}

/** Written beside its place and put there once it is on disk: what has its name is whole. */
async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const beside = `${path}.${randomBytes(4).toString('hex')}${partialSuffix}`
  const file = await open(beside, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(beside, path)
  await syncFolder(folder)
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The ids of the backups in a folder that are whole, the oldest first. */
export function listBackups(folder: string): readonly string[] {
  return listNames(join(folder, 'backups')).filter(isBackupId).sort()
}

/** @throws CommandError where there is none, or it is damaged */
export async function loadManifest(folder: string, id: string): Promise<Manifest> {
  const name = manifestName(id)
  const bytes = await readBackupFile(folder, name, maxManifestBytes)
  if (!bytes) throw new CommandError(`${name} is missing in ${folder}.`)
  const manifest = readManifest(bytes)
  if (typeof manifest === 'string') throw new CommandError(`${name} in ${folder} ${manifest}.`)
  return manifest
}

/** The newest backup of a folder, or that with the id. @throws CommandError */
export async function findBackup(folder: string, id: string | undefined): Promise<Manifest> {
  const all = listBackups(folder)
  const wanted = id ?? all.at(-1)
  if (wanted === undefined) throw new CommandError(`${folder} holds no backup that is whole.`)
  if (!all.includes(wanted)) throw new CommandError(`${folder} holds no backup ${wanted}; \`backup list\` tells which.`)
  return await loadManifest(folder, wanted)
}

/** What a file of a backup holds; undefined: there is none. @throws where it is larger than any that we write */
export async function readBackupFile(
  folder: string,
  name: string,
  maxBytes = maxFileBytes,
): Promise<Buffer | undefined> {
  const path = join(folder, name)
  if (name.split('/').includes('..')) throw new Error(`${name} is not a name of ours`)
  if (!existsSync(path)) return undefined
  const { size } = await stat(path)
  if (size > maxBytes) throw new Error(`it has ${size} bytes, and no file of a backup has more than ${maxBytes}`)
  return await readFile(path)
}

/**
 * Takes away what backups that did not come to their end left behind, and segments that no backup has any more. Where a
 * manifest cannot be read, so that nobody knows which segments it needs, all of them stay.
 */
export async function cleanFolder(folder: string): Promise<void> {
  for (const name of listNames(join(folder, 'backups')))
    if (isBackupId(name.replace(partialSuffix, '')) && name.endsWith(partialSuffix))
      await rm(join(folder, 'backups', name), { recursive: true, force: true })
  const wanted = new Set<string>()
  for (const id of listBackups(folder)) {
    const manifest = await loadManifest(folder, id).catch(() => undefined)
    if (!manifest) return
    for (const segment of manifest.segments) wanted.add(segment.name)
  }
  for (const name of listNames(join(folder, segmentsFolder)))
    if (isSegmentName(name) && !wanted.has(`${segmentsFolder}/${name}`))
      await rm(join(folder, segmentsFolder, name), { force: true })
}

function listNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

/** Removes one backup; what only it had goes with the next {@link cleanFolder}. */
export async function removeBackup(folder: string, id: string): Promise<void> {
  // Renamed first: half of a backup must not look like a whole one.
  const beside = join(folder, `${backupFolder(id)}${partialSuffix}`)
  await rename(join(folder, backupFolder(id)), beside)
  await rm(beside, { recursive: true, force: true })
}
