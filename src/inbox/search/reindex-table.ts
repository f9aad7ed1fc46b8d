import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { type NewSearchTextRow, unindexedColumns } from './table.ts'

const name = 'html_entities'

/** The message up to which texts were looked through, or '' at the start; undefined: there is nothing to index again. */
export async function selectReindexCursor(db: Db): Promise<string | undefined> {
  const row = await db.selectFrom('search_reindex').select('position').where('name', '=', name).executeTakeFirst()
  return row?.position
}

export async function updateReindexCursor(db: Db, position: Id<'msg'>): Promise<void> {
  await db
    .updateTable('search_reindex')
    .set({ position })
    .where('name', '=', name)
    .where('position', '<', position)
    .execute()
}

export async function deleteReindexCursor(db: Db): Promise<void> {
  await db.deleteFrom('search_reindex').where('name', '=', name).execute()
}

export async function selectTextsAfter(db: Db, position: string, limit: number) {
  return await db
    .selectFrom('search_texts')
    .select(['message_id', 'words'])
    .where('message_id', '>', position as Id<'msg'>)
    .orderBy('message_id')
    .limit(sql.lit(limit))
    .execute()
}

/** Those of these messages that are indexed and whose bytes are still there. */
export async function selectIndexedMessages(db: Db, ids: readonly Id<'msg'>[]) {
  if (ids.length === 0) return []
  return await db
    .selectFrom('messages')
    .select(unindexedColumns)
    .where('id', 'in', ids)
    .where('indexed', '=', 1)
    .where('raw_purged_at', 'is', null)
    .execute()
}

/** Prevents a segment that is being built of this organization's texts from being inserted; see buildSegment. */
export async function incrementRevision(db: Db, organizationId: Id<'org'>): Promise<void> {
  await sql`INSERT INTO search_heads (organization_id, blocks, revision) VALUES (${organizationId}, 0, 1)
    ON DUPLICATE KEY UPDATE revision = revision + 1`.execute(db)
}

/** Replaces a message's words, and takes the message out of its segment, whose posting lists have the old ones. */
export async function updateSearchText(db: Db, { message_id, words }: NewSearchTextRow): Promise<void> {
  await db
    .updateTable('search_texts')
    .set({ words, bytes: words.length, place: null })
    .where('message_id', '=', message_id)
    .execute()
}
