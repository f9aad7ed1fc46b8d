import { Readable } from 'node:stream'
import { inTransaction } from '../../base/database/database.ts'
import {
  type MessageRow,
  purgeRaw,
  replaceMessage,
  selectAttachments,
  selectMessages,
  selectMessagesAfter,
} from './messages-table.ts'
import { storeWithoutAttachments } from './strip-attachments.ts'
import type { Clearing, Kept, Shelf } from './target.ts'

/** Received messages as they came. */
export const rawMessages: Shelf = {
  kind: 'raw_messages',
  name: 'raw_messages',
  atOnce: 200,
  next: async (db, after, _before, most) => (await selectMessagesAfter(db, after, most)).map(rawOf),
  find: async (db, ids) => (await selectMessages(db, ids)).map(rawOf),
  async clear({ db, clock }, items) {
    const ids = items.map(each => each.id)
    const gone = new Set<string>(await inTransaction(db, tx => purgeRaw(tx, ids, clock.now())))
    return ids.filter(id => !gone.has(id))
  },
}

/** Attachments of received messages. */
export const receivedAttachments: Shelf = {
  kind: 'attachments',
  name: 'attachments.in',
  atOnce: 20,
  next: async (db, after, _before, most) => (await selectMessagesAfter(db, after, most)).map(attachmentsOf),
  find: async (db, ids) => (await selectMessages(db, ids)).map(attachmentsOf),
  async clear(use, items) {
    const rows = await selectMessages(
      use.db,
      items.map(each => each.id),
    )
    for (const row of rows) await stripOne(use, row)
    return []
  },
}

async function stripOne(use: Clearing, row: MessageRow): Promise<void> {
  if (row.blob_id.length === 0) return
  const { db, clock } = use
  const stored = await storeWithoutAttachments(use, {
    id: row.id,
    organizationId: row.organization_id,
    content: Readable.from(use.blobs.read(row.organization_id, row.blob_id), { objectMode: false }),
    attachments: await selectAttachments(db, row.id),
  })
  if (stored) await replaceMessage(db, row.id, { from: row.blob_id, to: stored }, clock.now())
}

function keptOf(row: MessageRow): Omit<Kept, 'bytes' | 'isCleared'> {
  return {
    position: row.id,
    id: row.id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    placedAt: row.received_at,
    countsFrom: row.received_at,
    isHeld: Number(row.is_held) === 1,
  }
}

function rawOf(row: MessageRow): Kept {
  return { ...keptOf(row), bytes: Number(row.size), isCleared: row.raw_purged_at !== null }
}

function attachmentsOf(row: MessageRow): Kept {
  const isCleared = row.attachment_count === 0 || row.raw_purged_at !== null || row.attachments_purged_at !== null
  return { ...keptOf(row), bytes: Number(row.attachment_bytes), isCleared }
}
