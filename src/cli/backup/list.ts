import { listBackups, loadManifest } from '../../backup/files/folder.ts'
import { manifestFiles, totalBytes } from '../../backup/format/manifest.ts'
import { CommandError } from '../../base/operator-error.ts'
import { defineCommand } from '../command.ts'

export const list = defineCommand({
  name: 'backup list',
  summary: 'List the backups in a directory',
  arguments: { folder: { placeholder: 'DIR' } },
  async run({ folder }) {
    const backups = await Promise.all(listBackups(folder).map(id => toJsonBackup(folder, id)))
    return { json: backups, text: backups.map(describe).join('\n') }
  },
})

async function toJsonBackup(folder: string, id: string) {
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

function describe(backup: Awaited<ReturnType<typeof toJsonBackup>>): string {
  if ('damage' in backup) return `${backup.id}  ${backup.damage}`
  const { id, bytes, messages, blobs, encryption } = backup
  const mib = (bytes / 1024 / 1024).toFixed(1)
  return `${id}  ${mib} MiB, ${messages} messages, ${blobs} blobs, encryption ${encryption}`
}
