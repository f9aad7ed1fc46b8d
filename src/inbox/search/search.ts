import type { Caller } from '../../api/caller.ts'
import type { Db } from '../../base/database/database.ts'
import type { Folder } from '../../base/database/schema.ts'
import { refuse } from '../../base/refusal.ts'
import type { MessageItemRow } from '../messages/table.ts'
import { parseQuery, type SearchQuery } from './query.ts'
import { type PostingList, segmentQuery, segmentSize, termKey } from './segment.ts'
import {
  type SearchCriteria,
  selectMatchesAt,
  selectPostings,
  selectSegmentCount,
  selectUnsegmentedMatches,
} from './table.ts'

/**
 * The newest messages that hold all words and "phrases" of `query` and none of its -exclusions; case and accents do not
 * matter. @throws Refusal invalid_request when it asks for nothing
 */
export async function searchMessages(
  db: Db,
  caller: Caller,
  query: string,
  listing: { readonly folder: Folder | undefined; readonly limit: number },
): Promise<MessageItemRow[]> {
  const asked = parseQuery(query)
  if (asked === null)
    throw refuse('invalid_request', { message: `The query "${query}" names no word to look for.`, param: 'q' })
  return await findMessages(db, { tenant: caller, query: asked, folder: listing.folder }, listing.limit)
}

/** First among those that are in no block yet: what moves into one meanwhile is found there again, not lost. */
async function findMessages(db: Db, sought: SearchCriteria, limit: number): Promise<MessageItemRow[]> {
  const found = new Map<string, MessageItemRow>()
  for (const row of await selectUnsegmentedMatches(db, sought, limit)) found.set(row.id, row)
  const places = positionsNewestFirst(db, sought.tenant.organizationId, sought.query)
  for await (const some of inChunks(places, 2 * limit)) {
    if (found.size >= limit) break
    for (const row of await selectMatchesAt(db, sought, some, limit)) found.set(row.id, row)
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)
}

const firstSegments = 16
const maxSegments = 256

/** The blocks from the newest to the oldest: first a few, which is enough for common words, then more at a time. */
async function* positionsNewestFirst(
  db: Db,
  organizationId: SearchCriteria['tenant']['organizationId'],
  query: SearchQuery,
) {
  const { terms, positionsIn } = segmentQuery(query)
  let end = await selectSegmentCount(db, organizationId)
  for (let count = firstSegments; end > 0; count = Math.min(count * 4, maxSegments)) {
    const begin = Math.max(end - count, 0)
    const numbers = Array.from({ length: end - begin }, (_, i) => begin + i)
    const blocks = new Map<number, Map<string, PostingList>>()
    for (const { term, block, places } of await selectPostings(db, organizationId, numbers, terms)) {
      const postings = blocks.get(block) ?? new Map<string, PostingList>()
      blocks.set(block, postings.set(termKey(term), places))
    }
    for (const block of [...blocks.keys()].sort((a, b) => b - a))
      for (const place of positionsIn(blocks.get(block) ?? new Map())) yield block * segmentSize + place
    end = begin
  }
}

const maxChunk = 1000

/** In growing chunks: what is rare among the candidates takes few statements. */
async function* inChunks(places: AsyncIterable<number>, first: number): AsyncGenerator<readonly number[]> {
  let chunk: number[] = []
  let size = first
  for await (const place of places) {
    chunk.push(place)
    if (chunk.length < size) continue
    yield chunk
    chunk = []
    size = Math.min(size * 2, maxChunk)
  }
  if (chunk.length > 0) yield chunk
}
