import { createHash } from 'node:crypto'
import type { Encryption } from './encryption.ts'

/** A file of a backup; `name` is its path below the folder of the backups. */
export interface BackupFile {
  readonly name: string
  readonly bytes: number
  /** Of what the file holds, in hexadecimal. */
  readonly sha256: string
}

export interface BackupColumn {
  readonly name: string
  /** Are its values written in base64? */
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
 * What a backup consists of. It is written last: what has none is not whole.
 *
 * What the search index is made of is in it, the index is not: a restore makes it. A file is text or bytes as below, compressed with zstd, and encrypted where its name says so. `tables`: a JSON array a
 * line for each row, in the order of the columns. `catalog` (never encrypted, so that the next backup can read it): a JSON
 * array a line, a blob's id and the segments it is in. `segments`: see segment.ts; those that hold blobs of this backup,
 * whichever backup wrote them, in the order they were written.
 */
export interface Manifest {
  readonly format: 1
  readonly id: string
  /** When the tables were read, as all of them stood at that moment. ISO 8601. */
  readonly taken_at: string
  /** The migrations that the tables had seen. */
  readonly migrations: readonly string[]
  readonly encryption: Encryption
  readonly tables: readonly BackupTable[]
  readonly catalog: readonly BackupFile[]
  readonly blobs: number
  readonly segments: readonly BackupFile[]
  /** What of `segments` this backup wrote. */
  readonly new_segments: number
  /** The ids of the secret keys that the database is sealed with. */
  readonly secret_keys: readonly string[]
  /** The secret key itself, in base64; null: the operator keeps it elsewhere. */
  readonly secret_key: BackupFile | null
  /** Blobs whose bytes the database did not have, or had wrong, when the backup was made. */
  readonly damaged_blobs: readonly string[]
}

/** All files that a restore reads, in the order it reads them. */
export function manifestFiles(manifest: Manifest): readonly BackupFile[] {
  const { tables, catalog, segments, secret_key } = manifest
  return [...(secret_key ? [secret_key] : []), ...tables.flatMap(table => table.files), ...catalog, ...segments]
}

export function totalBytes(files: readonly BackupFile[]): number {
  return files.reduce((sum, file) => sum + file.bytes, 0)
}

/** The manifest as its file holds it: with a hash, so that damage to it shows. */
export function writeManifest(manifest: Manifest): Buffer {
  return Buffer.from(`${JSON.stringify({ sha256: manifestHash(manifest), manifest })}\n`)
}

/** What a manifest file holds; a sentence where that is no manifest of ours, or not as it was written. */
export function readManifest(bytes: Uint8Array): Manifest | string {
  let read: { readonly sha256?: unknown; readonly manifest?: Manifest }
  try {
    read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return 'is not JSON any more'
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

/** The id of a backup that begins at this time (ISO 8601): `20270131T081500123Z-k3v9qx`. Ids sort by time. */
export function createBackupId(at: string, random: string): string {
  return `${at.slice(0, 23).replace(/[-:.]/g, '')}Z-${random.slice(-6)}`
}

export function isBackupId(text: string): boolean {
  return /^\d{8}T\d{9}Z-[0-9a-z]{6}$/.test(text)
}
