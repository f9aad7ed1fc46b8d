import { pruneBackups } from '../../backup/files/prune.ts'
import { UsageError } from '../../base/operator-error.ts'
import { defineCommand } from '../command.ts'

export const prune = defineCommand({
  name: 'backup prune',
  summary: 'Delete all but the newest backups of a directory',
  arguments: { folder: { placeholder: 'DIR' } },
  options: {
    keep: { placeholder: 'N', description: 'how many backups to keep, at least 1', read: readKeep, required: true },
  },
  async run({ folder, keep }) {
    const removed = await pruneBackups(folder, keep)
    return {
      json: { removed },
      text: removed.length === 0 ? 'There was nothing to remove.' : `Removed ${removed.join(', ')}.`,
    }
  },
})

function readKeep(text: string): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) < 1)
    throw new UsageError(`"${text}" is not a number of backups, at least 1`)
  return Number(text)
}
