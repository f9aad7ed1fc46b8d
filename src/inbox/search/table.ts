import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { Folder, Schema } from '../../base/database/schema.ts'
import { padded, placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'
import { type ItemRow, itemColumns, type Owner } from '../messages/table.ts'
import { patternOf, type SearchQuery, type Wanted } from './query.ts'
import { blockSize, type Places, type Term } from './segment.ts'

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
      'message_id',
      'in_reply_to',
      'raw_purged_at',
    ])
    .where('indexed', '=', 0)
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute()
}

/** Writes search text, which is passed over where another process was quicker, and marks the messages as indexed. */
export async function insertSearchText(db: Db, rows: readonly NewSearchText[]): Promise<void> {
  await insertRows(
    db,
    'search_texts',
    rows.map(row => ({ ...row, bytes: row.words.length, place: null })),
    'unless there',
  )
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

/** What is looked for, and whose. */
export interface Sought {
  readonly owner: Owner
  readonly query: SearchQuery
  readonly folder: Folder | undefined
}

/** Of the messages that are in no block yet, the newest that are sought. */
export async function selectUnplaced(db: Db, sought: Sought, limit: number): Promise<ItemRow[]> {
  let found = itemsOf(db, sought).where('s.place', 'is', null)
  for (const each of sought.query.wanted) found = found.where('s.words', 'like', patternOf(each))
  for (const each of sought.query.unwanted) found = found.where('s.words', 'not like', patternOf(each))
  return await found.orderBy('s.message_id', 'desc').limit(sql.lit(limit)).execute()
}

/** Of the messages at these places, the newest that are sought: what blocks do not tell is looked at in the words. */
export async function selectAtPlaces(
  db: Db,
  sought: Sought,
  places: readonly number[],
  limit: number,
): Promise<ItemRow[]> {
  let found = itemsOf(db, sought).where('s.place', 'in', [...padded(places)])
  for (const each of sought.query.wanted) if (isPhrase(each)) found = found.where('s.words', 'like', patternOf(each))
  for (const each of sought.query.unwanted)
    if (isPhrase(each)) found = found.where('s.words', 'not like', patternOf(each))
  return await found.orderBy('s.message_id', 'desc').limit(sql.lit(limit)).execute()
}

function isPhrase(asked: Wanted): boolean {
  return asked.kind === 'words' && asked.words.length > 1
}

function itemsOf(db: Db, { owner, folder }: Sought) {
  let items = db
    // Neither server may begin elsewhere: until its statistics catch up it takes a table that has grown for a small one.
    .selectFrom(sql<Schema['search_texts']>`search_texts`.as<'s'>(sql`s force index (search_texts_place)`))
    .innerJoin('messages as m', 'm.id', 's.message_id')
    .modifyFront(sql`straight_join`)
    .select(itemColumns.map(column => `m.${column}` as const))
    .where('s.organization_id', '=', owner.organizationId)
    .where('m.organization_id', '=', owner.organizationId)
  if (owner.brandId) items = items.where('s.brand_id', '=', owner.brandId).where('m.brand_id', '=', owner.brandId)
  if (folder) items = items.where('m.folder', '=', folder)
  return items
}

/** How many blocks the organization has. */
export async function selectBlockCount(db: Db, organizationId: Id<'org'>): Promise<number> {
  const head = await db
    .selectFrom('search_heads')
    .select('blocks')
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return head?.blocks ?? 0
}

export interface PostingRow {
  readonly term: Term
  readonly block: number
  readonly places: Places
}

/** The postings of these terms in these blocks of the organization. */
export async function selectPostings(
  db: Db,
  organizationId: Id<'org'>,
  blocks: readonly number[],
  terms: readonly Term[],
): Promise<readonly PostingRow[]> {
  const [there, asked] = [padded(blocks), padded(terms)]
  // One by one: a range of blocks would be read whole.
  return await selectRows(
    db,
    `SELECT block, term, places FROM search_postings
     WHERE organization_id = ? AND block IN (${placeholders(there)}) AND term IN (${placeholders(asked)})`,
    [organizationId, ...there, ...asked],
  )
}

/** How many messages of each of these organizations are in no block, and the bytes of their words. */
export async function selectUnplacedSizes(db: Db, organizationIds: readonly Id<'org'>[]) {
  return await db
    .selectFrom('search_texts')
    .select(({ fn }) => ['organization_id', fn.countAll<number>().as('messages'), fn.sum<number>('bytes').as('bytes')])
    .where('organization_id', 'in', organizationIds)
    .where('place', 'is', null)
    .groupBy('organization_id')
    .execute()
}

/** Takes hold of the organization's next block until the transaction ends: its number; undefined: someone else has. */
export async function lockNextBlock(db: Db, organizationId: Id<'org'>): Promise<number | undefined> {
  await insertRows(db, 'search_heads', [{ organization_id: organizationId, blocks: 0 }], 'unless there')
  const head = await db
    .selectFrom('search_heads')
    .select('blocks')
    .where('organization_id', '=', organizationId)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return head?.blocks
}

/** The oldest messages that are in no block, with their words. */
export async function selectUnplacedTexts(db: Db, organizationId: Id<'org'>) {
  return await db
    .selectFrom('search_texts')
    .select(['message_id', 'words', 'bytes'])
    .where('organization_id', '=', organizationId)
    .where('place', 'is', null)
    .orderBy('message_id')
    .limit(sql.lit(blockSize))
    .execute()
}

const rowsAStatement = 2000

/** Writes the organization's block of this number: its messages, in the order of their places, and its postings. */
export async function insertBlock(
  db: Db,
  organizationId: Id<'org'>,
  block: number,
  messageIds: readonly Id<'msg'>[],
  postings: readonly Omit<PostingRow, 'block'>[],
): Promise<void> {
  for (let at = 0; at < postings.length; at += rowsAStatement)
    await insertRows(
      db,
      'search_postings',
      postings.slice(at, at + rowsAStatement).map(each => ({ organization_id: organizationId, block, ...each })),
    )
  const place = sql<number>`${sql.lit(block * blockSize)} + FIELD(message_id, ${sql.join(messageIds)}) - 1`
  await db
    .updateTable('search_texts')
    .set({ place })
    .where('organization_id', '=', organizationId)
    .where('message_id', 'in', messageIds)
    .execute()
  await db
    .updateTable('search_heads')
    .set({ blocks: block + 1 })
    .where('organization_id', '=', organizationId)
    .execute()
}

export type Unindexed = Awaited<ReturnType<typeof selectUnindexed>>[number]
export type NewSearchText = Pick<Schema['search_texts'], 'message_id' | 'organization_id' | 'brand_id' | 'words'>
