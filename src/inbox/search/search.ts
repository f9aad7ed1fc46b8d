import type { Caller } from '../../api/caller.ts'
import type { Db } from '../../base/database/database.ts'
import type { Folder } from '../../base/database/schema.ts'
import { refuse } from '../../base/refusal.ts'
import type { ItemRow } from '../messages/table.ts'
import { readQuery, type SearchQuery } from './query.ts'
import { blockQuery, blockSize, keyOf, type Places } from './segment.ts'
import { type Sought, selectAtPlaces, selectBlockCount, selectPostings, selectUnplaced } from './table.ts'

/**
 * The newest messages that hold all words and "phrases" of `query` and none of its -exclusions; case and accents do not
 * matter. @throws Refusal invalid_request when it asks for nothing
 */
export async function searchMessages(
  db: Db,
  caller: Caller,
  query: string,
  listing: { readonly folder: Folder | undefined; readonly limit: number },
): Promise<ItemRow[]> {
  const asked = readQuery(query)
  if (asked === null)
    throw refuse('invalid_request', { message: `The query "${query}" names no word to look for.`, param: 'q' })
  return await findMessages(db, { owner: caller, query: asked, folder: listing.folder }, listing.limit)
}

/** First among those that are in no block yet: what moves into one meanwhile is found there again, not lost. */
async function findMessages(db: Db, sought: Sought, limit: number): Promise<ItemRow[]> {
  const found = new Map<string, ItemRow>()
  for (const row of await selectUnplaced(db, sought, limit)) found.set(row.id, row)
  const places = placesNewestFirst(db, sought.owner.organizationId, sought.query)
  for await (const some of inChunks(places, 2 * limit)) {
    if (found.size >= limit) break
    for (const row of await selectAtPlaces(db, sought, some, limit)) found.set(row.id, row)
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)
}

const firstBlocks = 16
const maxBlocks = 256

/** The blocks from the newest to the oldest: first a few, which is enough for common words, then more at a time. */
async function* placesNewestFirst(db: Db, organizationId: Sought['owner']['organizationId'], query: SearchQuery) {
  const { terms, placesIn } = blockQuery(query)
  let end = await selectBlockCount(db, organizationId)
  for (let count = firstBlocks; end > 0; count = Math.min(count * 4, maxBlocks)) {
    const begin = Math.max(end - count, 0)
    const numbers = Array.from({ length: end - begin }, (_, i) => begin + i)
    const blocks = new Map<number, Map<string, Places>>()
    for (const { term, block, places } of await selectPostings(db, organizationId, numbers, terms)) {
      const postings = blocks.get(block) ?? new Map<string, Places>()
      blocks.set(block, postings.set(keyOf(term), places))
    }
    for (const block of [...blocks.keys()].sort((a, b) => b - a))
      for (const place of placesIn(blocks.get(block) ?? new Map())) yield block * blockSize + place
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
