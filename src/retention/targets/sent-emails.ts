import { Readable } from 'node:stream'
import type { Instant } from '../../base/clock.ts'
import { inTransaction } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import {
  deleteEvents,
  type RetentionEmailRow,
  type RetentionEventRow,
  selectEmailsAfter,
  selectEmailsById,
  selectEventsAfter,
  selectEventsById,
  updateContentPurged,
  updateEmailBlob,
} from './emails-table.ts'
import { storeWithoutAttachments } from './strip-attachments.ts'
import type { RetainedItem, RetentionTarget, RetentionTargetDeps } from './target.ts'

/** The content of sent emails. */
export const sentBodiesTarget: RetentionTarget = {
  kind: 'sent_bodies',
  name: 'sent_bodies',
  batchSize: 200,
  selectAfter: async (db, after, _before, limit) => (await selectEmailsAfter(db, after, limit)).map(toRetainedContent),
  selectByIds: async (db, ids) => (await selectEmailsById(db, ids)).map(toRetainedContent),
  async clear({ db, clock }, items) {
    const ids = items.map(item => item.id)
    const purged = new Set<string>(await inTransaction(db, tx => updateContentPurged(tx, ids, clock.now())))
    return ids.filter(id => !purged.has(id))
  },
}

/** The attachments of sent emails. */
export const sentAttachmentsTarget: RetentionTarget = {
  kind: 'attachments',
  name: 'attachments.out',
  batchSize: 20,
  selectAfter: async (db, after, _before, limit) =>
    (await selectEmailsAfter(db, after, limit)).map(toRetainedAttachments),
  selectByIds: async (db, ids) => (await selectEmailsById(db, ids)).map(toRetainedAttachments),
  async clear(deps, items) {
    const ids = items.map(item => item.id)
    const unsent: string[] = []
    for (const row of await selectEmailsById(deps.db, ids)) if (!(await stripEmail(deps, row))) unsent.push(row.id)
    return unsent
  },
}

/** The events of emails. */
export const eventsTarget: RetentionTarget = {
  kind: 'events',
  name: 'events',
  batchSize: 500,
  selectAfter: async (db, after, _before, limit) => (await selectEventsAfter(db, after, limit)).map(toRetainedEvent),
  selectByIds: async (db, ids) => (await selectEventsById(db, ids)).map(toRetainedEvent),
  async clear({ db }, items) {
    await deleteEvents(
      db,
      items.map(item => item.id),
    )
    return []
  },
}

/** Removes the attachments. False: the email is still to be sent. */
async function stripEmail(deps: RetentionTargetDeps, row: RetentionEmailRow): Promise<boolean> {
  if (row.size === null) return true
  const { db, blobs, clock } = deps
  const to = await storeWithoutAttachments(deps, {
    id: row.id,
    organizationId: row.organization_id,
    content: Readable.from(blobs.read(row.organization_id, row.blob_id), { objectMode: false }),
    attachments: fromJson(row.attachments).map(({ filename, content_type, size }) => ({
      filename,
      contentType: content_type,
      size,
    })),
  })
  if (!to) return true
  return await inTransaction(db, tx => updateEmailBlob(tx, row.id, { from: row.blob_id, to }, clock.now()))
}

function toRetainedItem(row: RetentionEmailRow): Omit<RetainedItem, 'bytes' | 'isCleared'> {
  return {
    position: row.id,
    id: row.id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    enteredAt: row.created_at,
    retainedFrom: latest(row.created_at, row.scheduled_at, row.sent_at),
    isInUse: Number(row.is_unsent) === 1,
  }
}

function latest(first: Instant, ...others: readonly (Instant | null)[]): Instant {
  return others.reduce<Instant>((last, time) => (time !== null && time > last ? time : last), first)
}

function toRetainedContent(row: RetentionEmailRow): RetainedItem {
  return { ...toRetainedItem(row), bytes: Number(row.size ?? 0), isCleared: row.content_purged_at !== null }
}

function toRetainedAttachments(row: RetentionEmailRow): RetainedItem {
  const attachments = fromJson(row.attachments)
  const isCleared = attachments.length === 0 || row.content_purged_at !== null || row.attachments_purged_at !== null
  return { ...toRetainedItem(row), bytes: attachments.reduce((sum, { size }) => sum + size, 0), isCleared }
}

function toRetainedEvent(row: RetentionEventRow): RetainedItem {
  return {
    position: row.id,
    id: row.id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    enteredAt: row.recorded_at,
    retainedFrom: row.recorded_at,
    bytes: Number(row.bytes),
    isCleared: false,
    isInUse: Number(row.is_unsent) === 1,
  }
}
