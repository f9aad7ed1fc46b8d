import { CommandError } from '../../base/operator-error.ts'
import { manifestFiles, totalBytes } from '../format/manifest.ts'
import { loadManifest } from './folder.ts'

/** What a folder shows of one of its backups, without reading more than its manifest. */
export type BackupDescription =
  | {
      readonly id: string
      /** ISO 8601. */
      readonly taken_at: string
      readonly messages: number
      readonly blobs: number
      readonly bytes: number
      readonly encryption: 'none' | 'age' | 'gpg'
    }
  | { readonly id: string; readonly damage: string }

/** Describes a backup by its manifest, or says what is wrong with that. */
export async function describeBackup(folder: string, id: string): Promise<BackupDescription> {
  try {
    const manifest = await loadManifest(folder, id)
    const { taken_at, blobs, encryption, tables } = manifest
    const messages = tables.find(table => table.name === 'messages')?.rows ?? 0
    return { id, taken_at, messages, blobs, bytes: totalBytes(manifestFiles(manifest)), encryption: encryption.kind }
  } catch (error) {
    if (error instanceof CommandError) return { id, damage: error.message }
    throw error
  }
}
