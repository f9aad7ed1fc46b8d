import { listBackups, loadManifest } from '../../backup/files/folder.ts'
import { pruneBackups } from '../../backup/files/prune.ts'
import { bytesOf, filesOf } from '../../backup/format/manifest.ts'
import { CommandTrouble, UsageTrouble } from '../../base/operator-error.ts'
import { readArgs, type Told } from '../command.ts'

/** `backup list DIR` */
export async function onList(args: readonly string[]): Promise<Told> {
  const [folder = ''] = readArgs(args, { words: ['DIR'] }).words
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
    const messages = tables.find(each => each.name === 'messages')?.rows ?? 0
    return { id, taken_at, messages, blobs, bytes: bytesOf(filesOf(manifest)), encryption: encryption.kind }
  } catch (error) {
    if (error instanceof CommandTrouble) return { id, damage: error.message }
    throw error
  }
}

/** `backup prune DIR --keep N` */
export async function onPrune(args: readonly string[]): Promise<Told> {
  const { words, options } = readArgs(args, { words: ['DIR'], options: ['keep'] })
  const keep = Number(options['keep'])
  if (!/^\d{1,6}$/.test(options['keep'] ?? '') || keep < 1)
    throw new UsageTrouble('--keep takes how many backups stay, at least 1')
  const removed = await pruneBackups(words[0] ?? '', keep)
  return {
    json: { removed },
    text: removed.length === 0 ? 'Nothing was to be removed.' : `Removed ${removed.join(', ')}.`,
  }
}
