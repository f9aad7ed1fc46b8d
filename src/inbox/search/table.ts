import { sql } from 'kysely'
import type { Tenant } from '../../api/tenant.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema, Folder } from '../../base/database/schema.ts'
import { padToPowerOfTwo, placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'
import { itemColumns, type MessageItemRow } from '../messages/table.ts'
import { likePattern, type QueryClause, type SearchQuery } from './query.ts'
import { type Posting, type PostingList, segmentSize, type Term } from './segment.ts'

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
export async function insertSearchText(db: Db, rows: readonly NewSearchTextRow[]): Promise<void> {
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
      rows.map(row => row.message_id),
    )
    .execute()
}

/** What is looked for, and whose. */
export interface SearchCriteria {
  readonly tenant: Tenant
  readonly query: SearchQuery
  readonly folder: Folder | undefined
}

/** Of the messages that are in no block yet, the newest that are sought. */
export async function selectUnsegmentedMatches(
  db: Db,
  sought: SearchCriteria,
  limit: number,
): Promise<MessageItemRow[]> {
  let found = matchingItems(db, sought).where('s.place', 'is', null)
  for (const queryClause of sought.query.required) found = found.where('s.words', 'like', likePattern(queryClause))
  for (const queryClause of sought.query.excluded) found = found.where('s.words', 'not like', likePattern(queryClause))
  return await found.orderBy('s.message_id', 'desc').limit(sql.lit(limit)).execute()
}

/** Of the messages at these places, the newest that are sought: what blocks do not tell is looked at in the words. */
export async function selectMatchesAt(
  db: Db,
  sought: SearchCriteria,
  places: readonly number[],
  limit: number,
): Promise<MessageItemRow[]> {
  let found = matchingItems(db, sought).where('s.place', 'in', [...padToPowerOfTwo(places)])
  for (const queryClause of sought.query.required)
    if (isPhrase(queryClause)) found = found.where('s.words', 'like', likePattern(queryClause))
  for (const queryClause of sought.query.excluded)
    if (isPhrase(queryClause)) found = found.where('s.words', 'not like', likePattern(queryClause))
  return await found.orderBy('s.message_id', 'desc').limit(sql.lit(limit)).execute()
}

function isPhrase(asked: QueryClause): boolean {
  return asked.kind === 'words' && asked.words.length > 1
}

function matchingItems(db: Db, { tenant, folder }: SearchCriteria) {
  let items = db
    // Neither server may begin elsewhere: until its statistics catch up it takes a table that has grown for a small one.
    .selectFrom(sql<DatabaseSchema['search_texts']>`search_texts`.as<'s'>(sql`s force index (search_texts_place)`))
    .innerJoin('messages as m', 'm.id', 's.message_id')
    .modifyFront(sql`straight_join`)
    .select(itemColumns.map(column => `m.${column}` as const))
    .where('s.organization_id', '=', tenant.organizationId)
    .where('m.organization_id', '=', tenant.organizationId)
  if (tenant.brandId) items = items.where('s.brand_id', '=', tenant.brandId).where('m.brand_id', '=', tenant.brandId)
  if (folder) items = items.where('m.folder', '=', folder)
  return items
}

/** How many blocks the organization has. */
export async function selectSegmentCount(db: Db, organizationId: Id<'org'>): Promise<number> {
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
  readonly places: PostingList
}

/** The postings of these terms in these blocks of the organization. */
export async function selectPostings(
  db: Db,
  organizationId: Id<'org'>,
  blocks: readonly number[],
  terms: readonly Term[],
): Promise<readonly PostingRow[]> {
  const [there, asked] = [padToPowerOfTwo(blocks), padToPowerOfTwo(terms)]
  // One by one: a range of blocks would be read whole.
  return await selectRows(
    db,
    `SELECT block, term, places FROM search_postings
     WHERE organization_id = ? AND block IN (${placeholders(there)}) AND term IN (${placeholders(asked)})`,
    [organizationId, ...there, ...asked],
  )
}

/** How many messages of each of these organizations are in no block, and the bytes of their words. */
export async function selectUnsegmentedSizes(db: Db, organizationIds: readonly Id<'org'>[]) {
  return await db
    .selectFrom('search_texts')
    .select(({ fn }) => ['organization_id', fn.countAll<number>().as('messages'), fn.sum<number>('bytes').as('bytes')])
    .where('organization_id', 'in', organizationIds)
    .where('place', 'is', null)
    .groupBy('organization_id')
    .execute()
}

/** Takes hold of the organization's next block until the transaction ends: its number; undefined: someone else has. */
export async function lockNextSegment(db: Db, organizationId: Id<'org'>): Promise<number | undefined> {
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
export async function selectUnsegmentedTexts(db: Db, organizationId: Id<'org'>) {
  return await db
    .selectFrom('search_texts')
    .select(['message_id', 'words', 'bytes'])
    .where('organization_id', '=', organizationId)
    .where('place', 'is', null)
    .orderBy('message_id')
    .limit(sql.lit(segmentSize))
    .execute()
}

const rowsPerStatement = 2000

/** Writes the organization's block of this number: its messages, in the order of their places, and its postings. */
export async function insertSegment(
  db: Db,
  organizationId: Id<'org'>,
  block: number,
  messageIds: readonly Id<'msg'>[],
  postings: readonly Posting[],
): Promise<void> {
  for (let at = 0; at < postings.length; at += rowsPerStatement)
    await insertRows(
      db,
      'search_postings',
      postings
        .slice(at, at + rowsPerStatement)
        .map(({ term, list }) => ({ organization_id: organizationId, block, term, places: list })),
    )
  const place = sql<number>`${sql.lit(block * segmentSize)} + FIELD(message_id, ${sql.join(messageIds)}) - 1`
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

export type UnindexedRow = Awaited<ReturnType<typeof selectUnindexed>>[number]
export type NewSearchTextRow = Pick<
  DatabaseSchema['search_texts'],
  'message_id' | 'organization_id' | 'brand_id' | 'words'
>
