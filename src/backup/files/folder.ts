import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CommandError } from '../../base/operator-error.ts'
import { isBackupId, type Manifest, readManifest } from '../format/manifest.ts'
import { backupFolder, isSegmentName, manifestName, segmentsFolder } from './names.ts'
import type { BackupSink } from './sink.ts'

const partialSuffix = '.partial'
/** Larger than any file that a backup writes, encrypted. */
const maxFileBytes = 64 * 1024 * 1024
const maxManifestBytes = 512 * 1024 * 1024

/** Writes to a folder of backups, which share their segments. The backup gets its final name with its manifest. */
export function folderSink(folder: string, id: string): BackupSink {
  const partial = `${backupFolder(id)}${partialSuffix}`
  const written: string[] = []
  const pathOf = (name: string) => join(folder, name.replace(`${backupFolder(id)}/`, `${partial}/`))
  return {
    async write(name, bytes) {
      written.push(pathOf(name))
      await writeDurably(pathOf(name), bytes)
    },
    async finish(manifest) {
      await writeDurably(pathOf(manifestName(id)), manifest)
      await rename(join(folder, partial), join(folder, backupFolder(id)))
      await syncFolder(join(folder, dirname(partial)))
    },
    async abandon() {
      for (const path of written) await rm(path, { force: true })
      await rm(join(folder, partial), { recursive: true, force: true })
    },
  }
}

/** Writes under another name and renames once the file is on disk, so that a file with the final name is complete. */
async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const partial = `${path}.${randomBytes(4).toString('hex')}${partialSuffix}`
  const file = await open(partial, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(partial, path)
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

/** The ids of the complete backups in a folder, oldest first. */
export function listBackups(folder: string): readonly string[] {
  return listNames(join(folder, 'backups')).filter(isBackupId).sort()
}

/** @throws CommandError when it is missing or damaged */
export async function loadManifest(folder: string, id: string): Promise<Manifest> {
  const name = manifestName(id)
  const bytes = await readBackupFile(folder, name, maxManifestBytes)
  if (!bytes) throw new CommandError(`${name} is missing in ${folder}.`)
  const manifest = readManifest(bytes)
  if (typeof manifest === 'string') throw new CommandError(`${name} in ${folder} ${manifest}.`)
  return manifest
}

/** The newest backup of a folder, or the one with the id. @throws CommandError when there is none */
export async function findBackup(folder: string, id: string | undefined): Promise<Manifest> {
  const all = listBackups(folder)
  const chosen = id ?? all.at(-1)
  if (chosen === undefined) throw new CommandError(`There is no complete backup in ${folder}.`)
  if (!all.includes(chosen))
    throw new CommandError(`There is no backup ${chosen} in ${folder}; \`backup list\` shows the backups.`)
  return await loadManifest(folder, chosen)
}

/** The content of a file; undefined: it is missing. @throws when it is larger than any that a backup writes */
export async function readBackupFile(
  folder: string,
  name: string,
  maxBytes = maxFileBytes,
): Promise<Buffer | undefined> {
  const path = join(folder, name)
  if (name.split('/').includes('..')) throw new Error(`${name} is not the name of a file of a backup`)
  if (!existsSync(path)) return undefined
  const { size } = await stat(path)
  if (size > maxBytes) throw new Error(`it has ${size} bytes, and no file of a backup has more than ${maxBytes}`)
  return await readFile(path)
}

/**
 * Removes what incomplete backups left behind, and segments that no backup uses any more. When a manifest cannot be read, all
 * segments stay, since it may use them.
 */
export async function cleanFolder(folder: string): Promise<void> {
  for (const name of listNames(join(folder, 'backups')))
    if (isBackupId(name.replace(partialSuffix, '')) && name.endsWith(partialSuffix))
      await rm(join(folder, 'backups', name), { recursive: true, force: true })
  const used = new Set<string>()
  for (const id of listBackups(folder)) {
    const manifest = await loadManifest(folder, id).catch(() => undefined)
    if (!manifest) return
    for (const segment of manifest.segments) used.add(segment.name)
  }
  for (const name of listNames(join(folder, segmentsFolder)))
    if (isSegmentName(name) && !used.has(`${segmentsFolder}/${name}`))
      await rm(join(folder, segmentsFolder, name), { force: true })
}

function listNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

/** Removes one backup; {@link cleanFolder} removes the segments that only it used. */
export async function removeBackup(folder: string, id: string): Promise<void> {
  // Renamed first, so that a half removed backup does not look complete.
  const partial = join(folder, `${backupFolder(id)}${partialSuffix}`)
  await rename(join(folder, backupFolder(id)), partial)
  await rm(partial, { recursive: true, force: true })
}
