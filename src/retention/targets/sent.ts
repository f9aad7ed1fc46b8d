import { Readable } from 'node:stream'
import type { Instant } from '../../base/clock.ts'
import { inTransaction } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import {
  deleteEvents,
  type EmailRow,
  type EventRow,
  purgeContent,
  replaceContent,
  selectEmails,
  selectEmailsAfter,
  selectEventsAfter,
  selectEventsById,
} from './emails-table.ts'
import { storeWithoutAttachments } from './strip-attachments.ts'
import type { Clearing, Kept, Shelf } from './target.ts'

/** The content of sent emails. */
export const sentBodies: Shelf = {
  kind: 'sent_bodies',
  name: 'sent_bodies',
  atOnce: 200,
  next: async (db, after, _before, most) => (await selectEmailsAfter(db, after, most)).map(contentOf),
  find: async (db, ids) => (await selectEmails(db, ids)).map(contentOf),
  async clear({ db, clock }, items) {
    const ids = items.map(each => each.id)
    const gone = new Set<string>(await inTransaction(db, tx => purgeContent(tx, ids, clock.now())))
    return ids.filter(id => !gone.has(id))
  },
}

/** Attachments of sent emails. */
export const sentAttachments: Shelf = {
  kind: 'attachments',
  name: 'attachments.out',
  atOnce: 20,
  next: async (db, after, _before, most) => (await selectEmailsAfter(db, after, most)).map(attachmentsOf),
  find: async (db, ids) => (await selectEmails(db, ids)).map(attachmentsOf),
  async clear(use, items) {
    const ids = items.map(each => each.id)
    const held: string[] = []
    for (const row of await selectEmails(use.db, ids)) if (!(await stripOne(use, row))) held.push(row.id)
    return held
  },
}

/** What happened to emails. */
export const events: Shelf = {
  kind: 'events',
  name: 'events',
  atOnce: 500,
  next: async (db, after, _before, most) => (await selectEventsAfter(db, after, most)).map(eventOf),
  find: async (db, ids) => (await selectEventsById(db, ids)).map(eventOf),
  async clear({ db }, items) {
    await deleteEvents(
      db,
      items.map(each => each.id),
    )
    return []
  },
}

/** False: it is not sent. */
async function stripOne(use: Clearing, row: EmailRow): Promise<boolean> {
  if (row.size === null) return true
  const { db, blobs, clock } = use
  const to = await storeWithoutAttachments(use, {
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
  return await inTransaction(db, tx => replaceContent(tx, row.id, { from: row.blob_id, to }, clock.now()))
}

function keptOf(row: EmailRow): Omit<Kept, 'bytes' | 'isCleared'> {
  return {
    position: row.id,
    id: row.id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    placedAt: row.created_at,
    countsFrom: latest([row.created_at, row.scheduled_at, row.sent_at]),
    isHeld: Number(row.is_unsent) === 1,
  }
}

function latest(all: readonly (Instant | null)[]): Instant {
  const [last] = all
    .filter(each => each !== null)
    .sort()
    .reverse()
  if (last === undefined) throw new Error('there is no time among none')
  return last
}

function contentOf(row: EmailRow): Kept {
  return { ...keptOf(row), bytes: Number(row.size ?? 0), isCleared: row.content_purged_at !== null }
}

function attachmentsOf(row: EmailRow): Kept {
  const all = fromJson(row.attachments)
  const isCleared = all.length === 0 || row.content_purged_at !== null || row.attachments_purged_at !== null
  return { ...keptOf(row), bytes: all.reduce((sum, each) => sum + each.size, 0), isCleared }
}

function eventOf(row: EventRow): Kept {
  return {
    position: row.id,
    id: row.id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    placedAt: row.recorded_at,
    countsFrom: row.recorded_at,
    bytes: Number(row.bytes),
    isCleared: false,
    isHeld: Number(row.is_unsent) === 1,
  }
}
