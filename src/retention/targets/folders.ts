import { type Db, inTransaction } from '../../base/database/database.ts'
import { deletePostings, isBlockEmpty, selectBlocks } from '../unreferenced/search-table.ts'
import { deleteMessages, lockLeaving, type MessageRow, selectLeaving, selectMessages } from './messages-table.ts'
import type { Kept, Shelf } from './target.ts'

/** Whole messages in a folder that is emptied by itself. */
export function folderShelf(folder: 'spam' | 'trash' | 'quarantine'): Shelf {
  return {
    kind: folder,
    name: folder,
    atOnce: 100,
    async next(db, after, before, most) {
      const [since = '', id = ''] = after.split('|')
      const rows = await selectLeaving(db, folder, { since: since || '1970-01-01', id }, before, most)
      return rows.map(keptOf)
    },
    find: async (db, ids) => (await selectMessages(db, ids)).filter(row => row.folder_since !== null).map(keptOf),
    async clear({ db }, items) {
      const ids = items.map(each => each.id)
      const blocks = await selectBlocks(db, ids)
      const gone = await inTransaction(db, async tx => {
        const leaving = await lockLeaving(tx, folder, ids)
        await deleteMessages(tx, leaving)
        return leaving
      })
      for (const each of blocks) if (await isBlockEmpty(db, each)) await emptyBlock(db, each)
      return await heldOf(db, folder, ids, new Set(gone))
    },
  }
}

function keptOf(row: MessageRow): Kept {
  const since = row.folder_since ?? row.received_at
  return {
    position: `${since}|${row.id}`,
    id: row.id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    placedAt: since,
    countsFrom: since,
    bytes: Number(row.size),
    isCleared: false,
    isHeld: Number(row.is_held) === 1,
  }
}

/** What someone moved out of the folder meanwhile is no longer ours; what came to wait for something is. */
async function heldOf(db: Db, folder: string, ids: readonly string[], gone: ReadonlySet<string>) {
  const left = await selectMessages(
    db,
    ids.filter(id => !gone.has(id)),
  )
  return left.filter(row => row.folder === folder).map(row => row.id)
}

const postingsAtOnce = 1000

async function emptyBlock(db: Db, block: Parameters<typeof isBlockEmpty>[1]): Promise<void> {
  while ((await deletePostings(db, block, postingsAtOnce)) === postingsAtOnce);
}
