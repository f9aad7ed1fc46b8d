import { hash } from 'node:crypto'
import { keyPositions } from './postings.ts'
import type { QueryClause, SearchQuery } from './query.ts'
import type { Token } from './tokenizer.ts'

/**
 * The most messages in a segment. The messages of one organization that were indexed one after the other make a segment; it
 * has, for each token, a list of its messages that contain the token. So a segment costs a query about the same, however
 * common the query's words are. See docs/search-index.md.
 */
export const segmentSize = 2048

/** Terms in more messages of a segment have a bitmap as posting list; pairs of tokens are terms where both have bitmaps. */
const maxListedPositions = 127
const bitmapBytes = segmentSize / 8
const termBytes = 8
/** A term, and the length of its list. */
const postingHead = termBytes + 2

/** A hash of a token, or of two tokens that follow each other. */
export type Term = Buffer

/** The positions (0-based) of a segment's messages that contain a term: two bytes each, or a bit for each of all positions. */
export type PostingList = Buffer

function termOf(...tokens: readonly Token[]): Term {
  return hash('sha256', tokens.join(' '), 'buffer').subarray(0, termBytes)
}

export interface Posting {
  readonly term: Term
  readonly list: PostingList
}

/**
 * The postings of a segment whose messages have these tokens, one message a line, in the order of their positions: sorted by
 * term, each with the length of its list, as {@link readPostings} reads them. In one piece of memory: it is made on a worker,
 * and there may be hundreds of thousands.
 */
export function buildPostings(texts: string): Uint8Array {
  let bytes = Buffer.alloc(64 * 1024)
  let size = 0
  const starts: number[] = []
  for (const { key, positions } of keyPositions(texts, { maxListed: maxListedPositions, characterKey })) {
    const length = positions.length <= maxListedPositions ? positions.length * 2 : bitmapBytes
    if (size + postingHead + length > bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2)
    starts.push(size)
    termOf(key).copy(bytes, size)
    bytes.writeUInt16LE(length, size + termBytes)
    packPositions(positions, bytes.subarray(size + postingHead, size + postingHead + length))
    size += postingHead + length
  }
  starts.sort((a, b) => bytes.compare(bytes, b, b + termBytes, a, a + termBytes))
  const sorted = Buffer.alloc(size)
  let at = 0
  for (const start of starts)
    at += bytes.copy(sorted, at, start, start + postingHead + bytes.readUInt16LE(start + termBytes))
  return sorted
}

/** One after the other. */
export function* readPostings(postings: Uint8Array): Generator<Posting> {
  const bytes = Buffer.from(postings.buffer, postings.byteOffset, postings.byteLength)
  for (let start = 0; start < bytes.length; ) {
    const listStart = start + postingHead
    const end = listStart + bytes.readUInt16LE(start + termBytes)
    yield { term: bytes.subarray(start, start + termBytes), list: bytes.subarray(listStart, end) }
    start = end
  }
}

/** Another key than that of the token, which the character alone is at the end of a text. */
function characterKey(character: Token): string {
  return `${character}*`
}

/** @param list empty; of two bytes for each position, or a bitmap */
function packPositions(positions: Uint16Array, list: Buffer): void {
  if (positions.length <= maxListedPositions)
    for (const [i, position] of positions.entries()) list.writeUInt16LE(position, i * 2)
  else for (const position of positions) setBit(list, position)
}

function toBitmap(list: PostingList | undefined): Buffer {
  if (list?.length === bitmapBytes) return list
  const bitmap = Buffer.alloc(bitmapBytes)
  for (let at = 0; list && at < list.length; at += 2) setBit(bitmap, list.readUInt16LE(at))
  return bitmap
}

function setBit(bitmap: Buffer, position: number): void {
  bitmap[position >> 3] = (bitmap[position >> 3] ?? 0) | (1 << (position & 7))
}

/** A query in terms of posting lists. */
export interface SegmentQuery {
  /** The terms whose posting lists are needed. */
  readonly terms: readonly Term[]
  /**
   * The positions in a segment, highest first, of the messages that may match: all that match and some that have the words
   * of a phrase elsewhere.
   * @param postings the segment's posting lists, by {@link termKey}
   */
  readonly positionsIn: (postings: ReadonlyMap<string, PostingList>) => readonly number[]
}

export function termKey(term: Term): string {
  return term.toString('latin1')
}

export function segmentQuery(query: SearchQuery): SegmentQuery {
  const required = query.required.map(clauseTerms)
  // An excluded phrase excludes no message that only has its words.
  const excluded = query.excluded
    .filter(clause => clause.kind === 'character' || clause.words.length === 1)
    .flatMap(clause => clauseTerms(clause).words)
  const needed = [...required.flatMap(({ words, pairs }) => [...words, ...pairs]), ...excluded]
  return {
    terms: [...new Map(needed.map(term => [termKey(term), term])).values()],
    positionsIn(postings) {
      const listOf = (term: Term) => postings.get(termKey(term))
      const matches = Buffer.alloc(bitmapBytes, 0xff)
      const intersect = (bitmap: Buffer) => {
        for (let i = 0; i < bitmapBytes; i++) matches[i] = (matches[i] ?? 0) & (bitmap[i] ?? 0)
      }
      for (const { words, pairs } of required) {
        for (const word of words) intersect(toBitmap(listOf(word)))
        for (const [i, pair] of pairs.entries()) {
          const areCommon = [words[i], words[i + 1]].every(word => word && listOf(word)?.length === bitmapBytes)
          if (areCommon) intersect(toBitmap(listOf(pair)))
        }
      }
      for (const word of excluded) intersect(toBitmap(listOf(word)).map(byte => byte ^ 0xff) as Buffer)
      return positionsOf(matches)
    },
  }
}

interface ClauseTerms {
  readonly words: readonly Term[]
  /** Of each word and the next. */
  readonly pairs: readonly Term[]
}

function clauseTerms(clause: QueryClause): ClauseTerms {
  if (clause.kind === 'character') return { words: [termOf(characterKey(clause.character))], pairs: [] }
  const { words } = clause
  const pairs = words.slice(1).map((word, i) => termOf(words[i] ?? '', word))
  return { words: words.map(word => termOf(word)), pairs }
}

function positionsOf(bitmap: Buffer): readonly number[] {
  const positions: number[] = []
  for (let position = segmentSize - 1; position >= 0; position--)
    if ((bitmap[position >> 3] ?? 0) & (1 << (position & 7))) positions.push(position)
  return positions
}
