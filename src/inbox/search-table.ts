import { sql } from 'kysely'
import type { Db } from '../base/database.ts'
import type { Schema } from '../base/schema.ts'
import type { ItemRow, Owner } from './table.ts'

/** The oldest messages that have no search text yet. */
export async function selectUnindexed(db: Db, limit: number) {
  return await db
    .selectFrom('messages')
    .select([
      'id',
      'organization_id',
      'brand_id',
      'blob_id',
      'size',
      'subject',
      'from_name',
      'from_address',
      'to_addresses',
      'rcpt_to',
    ])
    .where('indexed', '=', 0)
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute()
}

/** Writes search text, again where another process was quicker, and marks the messages as indexed. */
export async function insertSearchText(db: Db, rows: readonly Schema['message_search'][]): Promise<void> {
  await db
    .insertInto('message_search')
    .values([...rows])
    .onDuplicateKeyUpdate({ words: sql`values(words)` })
    .execute()
  await db
    .updateTable('messages')
    .set({ indexed: 1 })
    .where(
      'id',
      'in',
      rows.map(each => each.message_id),
    )
    .execute()
}

/** The newest messages that `query` (the server's boolean syntax, of an organization's own words) finds. */
export async function selectFound(
  db: Db,
  owner: Owner,
  query: string,
  listing: { readonly folder: Schema['messages']['folder'] | undefined; readonly limit: number },
): Promise<ItemRow[]> {
  let found = db
    .selectFrom('message_search as s')
    .innerJoin('messages as m', 'm.id', 's.message_id')
    .select([
      'm.id',
      'm.brand_id',
      'm.folder',
      'm.mailbox_id',
      'm.rcpt_to',
      'm.from_address',
      'm.from_name',
      'm.to_addresses',
      'm.subject',
      'm.preview',
      'm.starred',
      'm.is_read',
      'm.received_at',
      'm.size',
      'm.attachment_count',
      'm.message_id',
      'm.thread_id',
      'm.in_reply_to_email_id',
      'm.spf',
      'm.dkim',
      'm.dmarc',
      'm.scan',
    ])
    .where(sql<boolean>`match (s.words) against (${query} in boolean mode)`)
    .where('s.organization_id', '=', owner.organizationId)
    .where('m.organization_id', '=', owner.organizationId)
    .orderBy('s.message_id', 'desc')
  if (owner.brandId) found = found.where('s.brand_id', '=', owner.brandId).where('m.brand_id', '=', owner.brandId)
  if (listing.folder) found = found.where('m.folder', '=', listing.folder)
  return await found.limit(sql.lit(listing.limit)).execute()
}

export type Unindexed = Awaited<ReturnType<typeof selectUnindexed>>[number]
