import { type Db, inTransaction } from '../../base/database/database.ts'
import {
  deletePostings,
  isSegmentEmpty,
  type SearchSegment,
  selectSearchSegments,
} from '../../inbox/search/segments-table.ts'
import {
  deleteMessages,
  lockMessagesInFolder,
  type RetentionMessageRow,
  selectMessagesById,
  selectMessagesInFolder,
} from './messages-table.ts'
import type { RetainedItem, RetentionTarget } from './target.ts'

/** Whole messages in a folder that is emptied automatically. */
export function folderTarget(folder: 'spam' | 'trash' | 'quarantine'): RetentionTarget {
  return {
    kind: folder,
    name: folder,
    batchSize: 100,
    async selectAfter(db, after, before, limit) {
      const [since = '', id = ''] = after.split('|')
      const rows = await selectMessagesInFolder(db, folder, { since: since || '1970-01-01', id }, before, limit)
      return rows.map(toRetainedItem)
    },
    selectByIds: async (db, ids) =>
      (await selectMessagesById(db, ids)).filter(row => row.folder_since !== null).map(toRetainedItem),
    async clear({ db }, items) {
      const ids = items.map(item => item.id)
      const segments = await selectSearchSegments(db, ids)
      const deleted = await inTransaction(db, async tx => {
        const locked = await lockMessagesInFolder(tx, folder, ids)
        await deleteMessages(tx, locked)
        return locked
      })
      for (const segment of segments) if (await isSegmentEmpty(db, segment)) await deleteSegmentPostings(db, segment)
      return await selectStillInFolder(db, folder, ids, new Set(deleted))
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
    isInUse: Number(row.is_in_use) === 1,
  }
}

/** The messages that came into use meanwhile, to be tried again. What was moved out of the folder is no longer its target. */
async function selectStillInFolder(db: Db, folder: string, ids: readonly string[], deleted: ReadonlySet<string>) {
  const remaining = await selectMessagesById(
    db,
    ids.filter(id => !deleted.has(id)),
  )
  return remaining.filter(row => row.folder === folder).map(row => row.id)
}

const postingsPerDelete = 1000

async function deleteSegmentPostings(db: Db, segment: SearchSegment): Promise<void> {
  while ((await deletePostings(db, segment, postingsPerDelete)) === postingsPerDelete);
}
