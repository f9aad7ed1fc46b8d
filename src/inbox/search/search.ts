import type { Caller } from '../../api/caller.ts'
import type { Db } from '../../base/database/database.ts'
import type { Folder } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import type { MessageItemRow } from '../messages/table.ts'
import { parseQuery, type SearchQuery } from './query.ts'
import { segmentQuery, segmentSize, termKey } from './segment.ts'
import {
  type SearchCriteria,
  selectIndexHead,
  selectMatchesAt,
  selectPostings,
  selectUnsegmentedMatches,
} from './table.ts'

/**
 * The newest messages that contain all words and "phrases" of `query` and none of its -exclusions; case and accents do not
 * matter.
 * @throws Refusal invalid_request when the query has no word to search for
 */
export async function searchMessages(
  db: Db,
  caller: Caller,
  query: string,
  listing: { readonly folder: Folder | undefined; readonly limit: number },
): Promise<MessageItemRow[]> {
  const parsed = parseQuery(query)
  if (parsed === null)
    throw refuse('invalid_request', { message: `The query "${query}" has no word to search for.`, param: 'q' })
  return await findMessages(db, { tenant: caller, query: parsed, folder: listing.folder }, listing.limit)
}

/** First those that are in no segment: a message that moves into one meanwhile is found again there, not missed. */
async function findMessages(db: Db, criteria: SearchCriteria, limit: number): Promise<MessageItemRow[]> {
  const matches = new Map<string, MessageItemRow>()
  for (const row of await selectUnsegmentedMatches(db, criteria, limit)) matches.set(row.id, row)
  const positions = positionsNewestFirst(db, criteria.tenant.organizationId, criteria.query)
  for await (const chunk of inChunks(positions, 2 * limit)) {
    if (matches.size >= limit) break
    for (const row of await selectMatchesAt(db, criteria, chunk, limit)) matches.set(row.id, row)
  }
  return [...matches.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)
}

const firstSegments = 16
const maxSegments = 256

/** Reads the segments from the newest to the oldest: first a few, enough for common words, then more at a time. */
async function* positionsNewestFirst(db: Db, organizationId: Id<'org'>, query: SearchQuery): AsyncGenerator<number> {
  const { terms, positionsIn } = segmentQuery(query)
  let { segments: end } = await selectIndexHead(db, organizationId)
  for (let count = firstSegments; end > 0; count = Math.min(count * 4, maxSegments)) {
    const begin = Math.max(end - count, 0)
    const numbers = Array.from({ length: end - begin }, (_, i) => begin + i)
    const postings = Map.groupBy(await selectPostings(db, organizationId, numbers, terms), row => row.segment)
    for (const [segment, rows] of [...postings].sort(([a], [b]) => b - a)) {
      const lists = new Map(rows.map(({ term, list }) => [termKey(term), list]))
      for (const position of positionsIn(lists)) yield segment * segmentSize + position
    }
    end = begin
  }
}

const maxChunk = 1000

/** In growing chunks: where few of the candidates match, few statements are needed. */
async function* inChunks(positions: AsyncIterable<number>, first: number): AsyncGenerator<readonly number[]> {
  let chunk: number[] = []
  let size = first
  for await (const position of positions) {
    chunk.push(position)
    if (chunk.length < size) continue
    yield chunk
    chunk = []
    size = Math.min(size * 2, maxChunk)
  }
  if (chunk.length > 0) yield chunk
}
