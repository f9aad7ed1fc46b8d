import { Readable } from 'node:stream'
import { inTransaction } from '../../base/database/database.ts'
import {
  type RetentionMessageRow,
  selectAttachments,
  selectMessagesAfter,
  selectMessagesById,
  updateMessageBlob,
  updateRawPurged,
} from './messages-table.ts'
import { storeWithoutAttachments } from './strip-attachments.ts'
import type { RetainedItem, RetentionTarget, RetentionTargetDeps } from './target.ts'

/** The raw content of received messages. */
export const rawMessagesTarget: RetentionTarget = {
  kind: 'raw_messages',
  name: 'raw_messages',
  batchSize: 200,
  selectAfter: async (db, after, _before, limit) => (await selectMessagesAfter(db, after, limit)).map(toRetainedRaw),
  selectByIds: async (db, ids) => (await selectMessagesById(db, ids)).map(toRetainedRaw),
  async clear({ db, clock }, items) {
    const ids = items.map(item => item.id)
    const purged = new Set<string>(await inTransaction(db, tx => updateRawPurged(tx, ids, clock.now())))
    return ids.filter(id => !purged.has(id))
  },
}

/** The attachments of received messages. */
export const receivedAttachmentsTarget: RetentionTarget = {
  kind: 'attachments',
  name: 'attachments.in',
  batchSize: 20,
  selectAfter: async (db, after, _before, limit) =>
    (await selectMessagesAfter(db, after, limit)).map(toRetainedAttachments),
  selectByIds: async (db, ids) => (await selectMessagesById(db, ids)).map(toRetainedAttachments),
  async clear(deps, items) {
    const rows = await selectMessagesById(
      deps.db,
      items.map(item => item.id),
    )
    for (const row of rows) await stripMessage(deps, row)
    return []
  },
}

async function stripMessage(deps: RetentionTargetDeps, row: RetentionMessageRow): Promise<void> {
  if (row.blob_id.length === 0) return
  const { db, clock } = deps
  const stored = await storeWithoutAttachments(deps, {
    id: row.id,
    organizationId: row.organization_id,
    content: Readable.from(deps.blobs.read(row.organization_id, row.blob_id), { objectMode: false }),
    attachments: await selectAttachments(db, row.id),
  })
  if (stored) await updateMessageBlob(db, row.id, { from: row.blob_id, to: stored }, clock.now())
}

function toRetainedItem(row: RetentionMessageRow): Omit<RetainedItem, 'bytes' | 'isCleared'> {
  return {
    position: row.id,
    id: row.id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    enteredAt: row.received_at,
    retainedFrom: row.received_at,
    isInUse: Number(row.is_in_use) === 1,
  }
}

function toRetainedRaw(row: RetentionMessageRow): RetainedItem {
  return { ...toRetainedItem(row), bytes: Number(row.size), isCleared: row.raw_purged_at !== null }
}

function toRetainedAttachments(row: RetentionMessageRow): RetainedItem {
  const isCleared = row.attachment_count === 0 || row.raw_purged_at !== null || row.attachments_purged_at !== null
  return { ...toRetainedItem(row), bytes: Number(row.attachment_bytes), isCleared }
}
