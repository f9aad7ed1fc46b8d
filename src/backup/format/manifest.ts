import { createHash } from 'node:crypto'
import type { Encryption } from './encryption.ts'

/** A file of a backup; `name` is its path relative to the folder of all backups. */
export interface BackupFile {
  readonly name: string
  readonly bytes: number
  /** Of the content of the file, in hexadecimal. */
  readonly sha256: string
}

export interface BackupColumn {
  readonly name: string
  /** Its values are written in base64. */
  readonly isBinary: boolean
}

export interface BackupTable {
  readonly name: string
  readonly columns: readonly BackupColumn[]
  readonly rows: number
  /** In the order of the primary key. */
  readonly files: readonly BackupFile[]
}

/**
 * The contents of a backup. The manifest is written last: a backup without one is incomplete.
 *
 * Each file is compressed with zstd, and encrypted if its name says so:
 * - `tables`: a line for each row, a JSON array in the order of the columns. The texts of the search index are included, the index
 *   is not: a restore rebuilds it.
 * - `catalog`: a line for each blob, a JSON array with its id and the segments that contain it. Never encrypted, so that the next
 *   backup can read it.
 * - `segments`: see segment.ts. All that contain blobs of this backup, also those that earlier backups wrote, in the order in which
 *   they were written.
 */
export interface Manifest {
  readonly format: 1
  readonly id: string
  /** The moment of the snapshot in which all tables were read. ISO 8601. */
  readonly taken_at: string
  /** The migrations that had been applied to the tables. */
  readonly migrations: readonly string[]
  readonly encryption: Encryption
  readonly tables: readonly BackupTable[]
  readonly catalog: readonly BackupFile[]
  readonly blobs: number
  readonly segments: readonly BackupFile[]
  /** How many of `segments` this backup wrote. */
  readonly new_segments: number
  /** The ids of the secret keys that secrets in the database are encrypted with. */
  readonly secret_keys: readonly string[]
  /** The secret key, in base64; null: it is not included, and the operator stores it elsewhere. */
  readonly secret_key: BackupFile | null
  /** Blobs whose content was missing or wrong in the database when the backup was made. */
  readonly damaged_blobs: readonly string[]
}

/** All files that a restore reads, in that order. */
export function manifestFiles(manifest: Manifest): readonly BackupFile[] {
  const { tables, catalog, segments, secret_key } = manifest
  return [...(secret_key ? [secret_key] : []), ...tables.flatMap(table => table.files), ...catalog, ...segments]
}

export function totalBytes(files: readonly BackupFile[]): number {
  return files.reduce((sum, file) => sum + file.bytes, 0)
}

/** The content of the manifest file: the manifest with its hash, which shows damage. */
export function writeManifest(manifest: Manifest): Buffer {
  return Buffer.from(`${JSON.stringify({ sha256: manifestHash(manifest), manifest })}\n`)
}

/** Reads a manifest file; gives what is wrong with it, to follow its name, when it is damaged or of an unknown format. */
export function readManifest(bytes: Uint8Array): Manifest | string {
  let read: { readonly sha256?: unknown; readonly manifest?: Manifest }
  try {
    read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return 'is not JSON'
  }
  const { sha256, manifest } = read
  if (!manifest || sha256 !== manifestHash(manifest)) return 'is not as it was written'
  if (Buffer.compare(writeManifest(manifest), bytes) !== 0) return 'is not as it was written'
  if (manifest.format !== 1) return `has the format ${manifest.format}, which this version does not know`
  return manifest
}

function manifestHash(manifest: Manifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
}

/** The id of a backup that starts at this time (ISO 8601): `20270131T081500123Z-k3v9qx`. Ids sort by time. */
export function createBackupId(at: string, random: string): string {
  return `${at.slice(0, 23).replace(/[-:.]/g, '')}Z-${random.slice(-6)}`
}

export function isBackupId(text: string): boolean {
  return /^\d{8}T\d{9}Z-[0-9a-z]{6}$/.test(text)
}
