import { hash } from 'node:crypto'
import type { QueryClause, SearchQuery } from './query.ts'
import { leadingCharacter, type Token } from './tokenizer.ts'

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
 * The postings of a segment whose messages have these tokens, one message a line, in the order of their positions. As text,
 * which {@link readPostings} reads: it is made on a worker.
 */
export function buildPostings(texts: string): string {
  const messages = texts.split('\n')
  const tokensOf = (message: string): readonly Token[] => message.trim().split(' ')
  // Most tokens are in one message only: an array for each would take most of the memory.
  const positions = new Map<string, number | number[]>()
  const add = (key: string, position: number) => {
    const ofKey = positions.get(key)
    if (ofKey === undefined) positions.set(key, position)
    else if (typeof ofKey === 'number') {
      if (ofKey !== position) positions.set(key, [ofKey, position])
    } else if (ofKey.at(-1) !== position) ofKey.push(position)
  }
  for (const [position, message] of messages.entries())
    for (const token of tokensOf(message)) {
      add(token, position)
      const character = leadingCharacter(token)
      if (character) add(characterKey(character), position)
    }
  const isCommon = (key: string) => {
    const ofKey = positions.get(key)
    return typeof ofKey === 'object' && ofKey.length > maxListedPositions
  }
  const common = new Set(positions.keys().filter(isCommon))
  for (const [position, message] of messages.entries()) {
    const tokens = tokensOf(message)
    for (const [i, token] of tokens.entries()) {
      const next = tokens[i + 1]
      if (next !== undefined && common.has(token) && common.has(next)) add(`${token} ${next}`, position)
    }
  }
  const postings = Array.from(positions, ([key, ofKey]) =>
    Buffer.concat([termOf(key), packPositions(typeof ofKey === 'number' ? [ofKey] : ofKey)]).toString('hex'),
  )
  return postings.sort().join('\n')
}

/** One after the other, since a segment may have hundreds of thousands. */
export function* readPostings(text: string): Generator<Posting> {
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    const listStart = start + termBytes * 2
    yield {
      term: Buffer.from(text.slice(start, listStart), 'hex'),
      list: Buffer.from(text.slice(listStart, end), 'hex'),
    }
    start = end + 1
  }
}

/** Another key than that of the token, which the character alone is at the end of a text. */
function characterKey(character: Token): string {
  return `${character}*`
}

function packPositions(positions: readonly number[]): PostingList {
  if (positions.length <= maxListedPositions) {
    const list = Buffer.alloc(positions.length * 2)
    for (const [i, position] of positions.entries()) list.writeUInt16LE(position, i * 2)
    return list
  }
  const bitmap = Buffer.alloc(bitmapBytes)
  for (const position of positions) setBit(bitmap, position)
  return bitmap
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
