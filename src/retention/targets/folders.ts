import { type Db, inTransaction } from '../../base/database/database.ts'
import { deletePostings, isSegmentEmpty, selectSearchSegments } from '../../inbox/search/segments-table.ts'
import {
  deleteMessages,
  lockMessagesInFolder,
  type RetentionMessageRow,
  selectMessagesById,
  selectMessagesInFolder,
} from './messages-table.ts'
import type { RetainedItem, RetentionTarget } from './target.ts'

/** Whole messages in a folder that is emptied by itself. */
export function folderTarget(folder: 'spam' | 'trash' | 'quarantine'): RetentionTarget {
  return {
    kind: folder,
    name: folder,
    batchSize: 100,
    async selectAfter(db, after, before, most) {
      const [since = '', id = ''] = after.split('|')
      const rows = await selectMessagesInFolder(db, folder, { since: since || '1970-01-01', id }, before, most)
      return rows.map(toRetainedItem)
    },
    selectByIds: async (db, ids) =>
      (await selectMessagesById(db, ids)).filter(row => row.folder_since !== null).map(toRetainedItem),
    async clear({ db }, items) {
      const ids = items.map(retainedItem => retainedItem.id)
      const blocks = await selectSearchSegments(db, ids)
      const gone = await inTransaction(db, async tx => {
        const leaving = await lockMessagesInFolder(tx, folder, ids)
        await deleteMessages(tx, leaving)
        return leaving
      })
      for (const block of blocks) if (await isSegmentEmpty(db, block)) await deleteSegmentPostings(db, block)
      return await selectStillInFolder(db, folder, ids, new Set(gone))
    },
  }
}

function toRetainedItem(row: RetentionMessageRow): RetainedItem {
  const since = row.folder_since ?? row.received_at
  return {
    position: `${since}|${row.id}`,
    id: row.id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    enteredAt: since,
    retainedFrom: since,
    bytes: Number(row.size),
    isCleared: false,
    isInUse: Number(row.is_held) === 1,
  }
}

/** What someone moved out of the folder meanwhile is no longer ours; what came to wait for something is. */
async function selectStillInFolder(db: Db, folder: string, ids: readonly string[], gone: ReadonlySet<string>) {
  const left = await selectMessagesById(
    db,
    ids.filter(id => !gone.has(id)),
  )
  return left.filter(row => row.folder === folder).map(row => row.id)
}

const postingsPerDelete = 1000

async function deleteSegmentPostings(db: Db, block: Parameters<typeof isSegmentEmpty>[1]): Promise<void> {
  while ((await deletePostings(db, block, postingsPerDelete)) === postingsPerDelete);
}
