import { type Selectable, sql } from 'kysely'
import type { Tenant } from '../../api/tenant.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema, Folder } from '../../base/database/schema.ts'
import { padToPowerOfTwo, placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'
import { itemColumns, type MessageItemRow } from '../messages/table.ts'
import { likePattern, type QueryClause, type SearchQuery } from './query.ts'
import { type Posting, type PostingList, segmentSize, type Term } from './segment.ts'

/** What indexing needs of a message. */
export const unindexedColumns = [
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
] as const

export type UnindexedRow = Pick<Selectable<DatabaseSchema['messages']>, (typeof unindexedColumns)[number]>

/** The oldest messages that have no search text yet. */
export async function selectUnindexed(db: Db, limit: number): Promise<readonly UnindexedRow[]> {
  return await db
    .selectFrom('messages')
    .select(unindexedColumns)
    .where('indexed', '=', 0)
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute()
}

/** Of the words in one statement, in bytes, beside its first row: less than half of what the servers take by default. */
const maxBytesPerInsert = 7 * 1024 * 1024
const maxRowsPerInsert = 500

/** Inserts search texts, except where another process was quicker. */
export async function insertSearchTexts(db: Db, rows: readonly NewSearchTextRow[]): Promise<void> {
  for (let start = 0; start < rows.length; ) {
    let bytes = 0
    let end = start
    while (end < rows.length && end - start < maxRowsPerInsert && (end === start || bytes < maxBytesPerInsert))
      bytes += rows[end++]?.words.length ?? 0
    await insertRows(
      db,
      'search_texts',
      rows.slice(start, end).map(row => ({ ...row, bytes: row.words.length, place: null })),
      'ignore',
    )
    start = end
  }
}

/** Marks messages as indexed. */
export async function updateIndexed(db: Db, ids: readonly Id<'msg'>[]): Promise<void> {
  await db.updateTable('messages').set({ indexed: 1 }).where('id', 'in', ids).execute()
}

export interface SearchCriteria {
  readonly tenant: Tenant
  readonly query: SearchQuery
  /** undefined: all but {@link discardedFolders}. */
  readonly folder: Folder | undefined
}

/** Searched only when they are asked for. */
const discardedFolders: readonly Folder[] = ['trash', 'quarantine']

/** The newest matches among the messages that are in no segment yet. */
export async function selectUnsegmentedMatches(
  db: Db,
  criteria: SearchCriteria,
  limit: number,
): Promise<MessageItemRow[]> {
  let matches = matchingItems(db, criteria).where('s.place', 'is', null)
  for (const clause of criteria.query.required) matches = matches.where('s.words', 'like', likePattern(clause))
  for (const clause of criteria.query.excluded) matches = matches.where('s.words', 'not like', likePattern(clause))
  return await matches.orderBy('s.message_id', 'desc').limit(sql.lit(limit)).execute()
}

/** The newest matches among the messages at these positions: phrases, which posting lists do not know, are checked in the words. */
export async function selectMatchesAt(
  db: Db,
  criteria: SearchCriteria,
  positions: readonly number[],
  limit: number,
): Promise<MessageItemRow[]> {
  let matches = matchingItems(db, criteria).where('s.place', 'in', [...padToPowerOfTwo(positions)])
  for (const clause of criteria.query.required)
    if (isPhrase(clause)) matches = matches.where('s.words', 'like', likePattern(clause))
  for (const clause of criteria.query.excluded)
    if (isPhrase(clause)) matches = matches.where('s.words', 'not like', likePattern(clause))
  return await matches.orderBy('s.message_id', 'desc').limit(sql.lit(limit)).execute()
}

function isPhrase(clause: QueryClause): boolean {
  return clause.kind === 'words' && clause.words.length > 1
}

function matchingItems(db: Db, { tenant, folder }: SearchCriteria) {
  let items = db
    // The order is forced on both servers: until their statistics catch up they treat a table that has grown as a small one.
    .selectFrom(sql<DatabaseSchema['search_texts']>`search_texts`.as<'s'>(sql`s force index (search_texts_place)`))
    .innerJoin('messages as m', 'm.id', 's.message_id')
    .modifyFront(sql`straight_join`)
    .select(itemColumns.map(column => `m.${column}` as const))
    .where('s.organization_id', '=', tenant.organizationId)
    .where('m.organization_id', '=', tenant.organizationId)
  if (tenant.brandId) items = items.where('s.brand_id', '=', tenant.brandId).where('m.brand_id', '=', tenant.brandId)
  return folder ? items.where('m.folder', '=', folder) : items.where('m.folder', 'not in', discardedFolders)
}

/** The state of an organization's index. */
export interface IndexHead {
  readonly segments: number
  /** It changes when texts that are indexed change. */
  readonly revision: number
}

export async function selectIndexHead(db: Db, organizationId: Id<'org'>): Promise<IndexHead> {
  const head = await db
    .selectFrom('search_heads')
    .select(['blocks as segments', 'revision'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return head ?? { segments: 0, revision: 0 }
}

export interface PostingRow {
  readonly segment: number
  readonly term: Term
  readonly list: PostingList
}

/** The postings of these terms in these segments of the organization. */
export async function selectPostings(
  db: Db,
  organizationId: Id<'org'>,
  segments: readonly number[],
  terms: readonly Term[],
): Promise<readonly PostingRow[]> {
  const [inSegments, ofTerms] = [padToPowerOfTwo(segments), padToPowerOfTwo(terms)]
  // One by one: a range of segments would be read whole.
  return await selectRows(
    db,
    `SELECT block AS segment, term, places AS list FROM search_postings
     WHERE organization_id = ? AND block IN (${placeholders(inSegments)}) AND term IN (${placeholders(ofTerms)})`,
    [organizationId, ...inSegments, ...ofTerms],
  )
}

/** The organizations that have messages in the index. */
export async function selectIndexedOrganizations(db: Db): Promise<readonly Id<'org'>[]> {
  const rows = await db.selectFrom('search_texts').select('organization_id').distinct().execute()
  return rows.map(row => row.organization_id)
}

/** The highest id of a message in the index; empty: there is none. */
export async function selectNewestIndexed(db: Db): Promise<Id<'msg'> | ''> {
  const [row] = await selectRows<{ readonly newest: Id<'msg'> | null }>(
    db,
    'SELECT MAX(message_id) AS newest FROM search_texts',
    [],
  )
  return row?.newest ?? ''
}

/** The organizations that have messages in the index with a higher id than this one, and the highest of each. */
export async function selectOrganizationsIndexedAfter(
  db: Db,
  id: Id<'msg'> | '',
): Promise<readonly { readonly organization_id: Id<'org'>; readonly newest: Id<'msg'> }[]> {
  return await selectRows(
    db,
    `SELECT organization_id, MAX(message_id) AS newest FROM search_texts FORCE INDEX (PRIMARY)
     WHERE message_id > ? GROUP BY organization_id`,
    [id],
  )
}

/** How many messages of each of these organizations are in no segment, and the bytes of their words. */
export async function selectUnsegmentedSizes(db: Db, organizationIds: readonly Id<'org'>[]) {
  return await db
    .selectFrom('search_texts')
    .select(({ fn }) => ['organization_id', fn.countAll<number>().as('messages'), fn.sum<number>('bytes').as('bytes')])
    .where('organization_id', 'in', organizationIds)
    .where('place', 'is', null)
    .groupBy('organization_id')
    .execute()
}

/** Locks the organization's index until the transaction ends; undefined: another transaction has locked it. */
export async function lockIndexHead(db: Db, organizationId: Id<'org'>): Promise<IndexHead | undefined> {
  await insertRows(db, 'search_heads', [{ organization_id: organizationId, blocks: 0 }], 'ignore')
  return await db
    .selectFrom('search_heads')
    .select(['blocks as segments', 'revision'])
    .where('organization_id', '=', organizationId)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
}

/** The oldest messages that are in no segment, as many as one takes, with their words: so many bytes of them, at least one. */
export async function selectUnsegmentedTexts(db: Db, organizationId: Id<'org'>, maxBytes: number) {
  const oldest = await db
    .selectFrom('search_texts')
    .select(['message_id', 'bytes'])
    .where('organization_id', '=', organizationId)
    .where('place', 'is', null)
    .orderBy('message_id')
    .limit(sql.lit(segmentSize))
    .execute()
  const ids: Id<'msg'>[] = []
  let total = 0
  for (const { message_id, bytes } of oldest) {
    total += bytes
    if (total > maxBytes && ids.length > 0) break
    ids.push(message_id)
  }
  if (ids.length === 0) return []
  return await db
    .selectFrom('search_texts')
    .select(['message_id', 'words'])
    .where('message_id', 'in', ids)
    .where('place', 'is', null)
    .orderBy('message_id')
    .execute()
}

const rowsPerStatement = 1024

/** Takes at most so many items off an iterator. */
function firstOf<Item>(items: Iterator<Item>, most: number): readonly Item[] {
  const taken: Item[] = []
  while (taken.length < most) {
    const { value, done } = items.next()
    if (done) break
    taken.push(value)
  }
  return taken
}

/** Inserts the organization's segment of this number: its messages, in the order of their positions, and its postings. */
export async function insertSegment(
  db: Db,
  organizationId: Id<'org'>,
  segment: number,
  messageIds: readonly Id<'msg'>[],
  postings: Iterable<Posting>,
): Promise<void> {
  const rows = Iterator.from(postings).map(({ term, list }) => ({
    organization_id: organizationId,
    block: segment,
    term,
    places: list,
  }))
  for (let next = firstOf(rows, rowsPerStatement); next.length > 0; next = firstOf(rows, rowsPerStatement))
    await insertRows(db, 'search_postings', next)
  const place = sql<number>`${sql.lit(segment * segmentSize)} + FIELD(message_id, ${sql.join(messageIds)}) - 1`
  await db
    .updateTable('search_texts')
    .set({ place })
    .where('organization_id', '=', organizationId)
    .where('message_id', 'in', messageIds)
    .execute()
  await db
    .updateTable('search_heads')
    .set({ blocks: segment + 1 })
    .where('organization_id', '=', organizationId)
    .execute()
}

export type NewSearchTextRow = Pick<
  DatabaseSchema['search_texts'],
  'message_id' | 'organization_id' | 'brand_id' | 'words'
>
