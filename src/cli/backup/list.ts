import { type BackupDescription, describeBackup } from '../../backup/files/describe-backup.ts'
import { listBackups } from '../../backup/files/folder.ts'
import { defineCommand } from '../command.ts'

export const list = defineCommand({
  name: 'backup list',
  summary: 'List the backups in a directory',
  arguments: { folder: { placeholder: 'DIR' } },
  async run({ folder }) {
    const backups = await Promise.all(listBackups(folder).map(id => describeBackup(folder, id)))
    return { json: backups, text: backups.map(describe).join('\n') }
  },
})

function describe(backup: BackupDescription): string {
  if ('damage' in backup) return `${backup.id}  ${backup.damage}`
  const { id, bytes, messages, blobs, encryption } = backup
  const mib = (bytes / 1024 / 1024).toFixed(1)
  return `${id}  ${mib} MiB, ${messages} messages, ${blobs} blobs, encryption ${encryption}`
}
