import { statSync } from 'node:fs'
import { join } from 'node:path'
import { listBackups, loadManifest } from '../files/folder.ts'
import { readLines } from '../files/read-file.ts'
import { type EarlierCatalog, emptyEarlierCatalog, openEarlierCatalog } from '../format/catalog.ts'
import type { Encryption } from '../format/encryption.ts'
import type { BackupFile } from '../format/manifest.ts'

/** An earlier backup, whose blobs need not be copied again. */
export interface EarlierBackup {
  readonly blobs: EarlierCatalog
  readonly segments: readonly BackupFile[]
}

/** There is none: everything is copied. */
export const noEarlierBackup: EarlierBackup = { blobs: emptyEarlierCatalog, segments: [] }

/**
 * Opens the newest backup of the folder, if it is encrypted in the same way for the same keys. What is damaged or missing in it
 * is copied again.
 */
export async function openEarlierBackup(folder: string, encryption: Encryption): Promise<EarlierBackup> {
  const newest = listBackups(folder).at(-1)
  if (newest === undefined) return noEarlierBackup
  const manifest = await loadManifest(folder, newest).catch(warn)
  if (!manifest) return noEarlierBackup
  if (JSON.stringify(manifest.encryption) !== JSON.stringify(encryption)) return noEarlierBackup
  const usable = new Set(
    manifest.segments.filter(segment => isIntactFile(folder, segment)).map(segment => segment.name),
  )
  const damaged = new Set(manifest.damaged_blobs)
  const blobs = openEarlierCatalog(
    manifest.catalog,
    async file => (await readLines(folder, file, { identities: [] }).catch(warn)) ?? [],
    segment => usable.has(segment),
  )
  return {
    blobs: { segmentsOf: async id => (damaged.has(id) ? undefined : await blobs.segmentsOf(id)) },
    segments: manifest.segments,
  }
}

function isIntactFile(folder: string, file: BackupFile): boolean {
  return statSync(join(folder, file.name), { throwIfNoEntry: false })?.size === file.bytes
}

function warn(error: Error): undefined {
  process.stderr.write(`mailroom: the previous backup is damaged, so its content is copied again: ${error.message}\n`)
}
