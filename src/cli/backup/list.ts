import { listBackups, loadManifest } from '../../backup/files/folder.ts'
import { pruneBackups } from '../../backup/files/prune.ts'
import { manifestFiles, totalBytes } from '../../backup/format/manifest.ts'
import { CommandError, UsageError } from '../../base/operator-error.ts'
import { type CommandOutput, readArguments } from '../command.ts'

/** `backup list DIR` */
export async function runList(args: readonly string[]): Promise<CommandOutput> {
  const [folder = ''] = readArguments(args, { words: ['DIR'] }).words
  const all = await Promise.all(listBackups(folder).map(id => describe(folder, id)))
  return {
    json: all,
    text: all
      .map(each =>
        'damage' in each
          ? `${each.id}  ${each.damage}`
          : `${each.id}  ${(each.bytes / 1024 / 1024).toFixed(1)} MiB, ${each.messages} messages, ${each.blobs} blobs, encryption ${each.encryption}`,
      )
      .join('\n'),
  }
}

async function describe(folder: string, id: string) {
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

/** `backup prune DIR --keep N` */
export async function runPrune(args: readonly string[]): Promise<CommandOutput> {
  const { words, options } = readArguments(args, { words: ['DIR'], options: ['keep'] })
  const keep = Number(options['keep'])
  if (!/^\d{1,6}$/.test(options['keep'] ?? '') || keep < 1)
    throw new UsageError('--keep takes how many backups stay, at least 1')
  const removed = await pruneBackups(words[0] ?? '', keep)
  return {
    json: { removed },
    text: removed.length === 0 ? 'Nothing was to be removed.' : `Removed ${removed.join(', ')}.`,
  }
}
