import { createHash } from 'node:crypto'
import type { QueryClause, SearchQuery } from './query.ts'
import { leadingCharacter, type Token } from './tokenizer.ts'

/**
 * Messages of one organization that were indexed one after the other, at most {@link segmentSize}. Of each word a block keeps
 * in which of its messages it is: so what is asked of a block costs about the same, however common its words are.
 */
export const segmentSize = 2048

/** A word that is in more messages of a block than this is kept as a bit for each, and so are pairs of such words. */
const maxListedPositions = 127
const bitmapBytes = segmentSize / 8
const termBytes = 8

/** What a posting is found by in its block: of a word, or of two words that follow each other. */
export type Term = Buffer

/** Those places in a block (0-based) that have a word: two bytes each or, where there are many, a bit for each place. */
export type PostingList = Buffer

function termOf(...words: readonly Token[]): Term {
  return createHash('sha256').update(words.join(' ')).digest().subarray(0, termBytes)
}

/** A word of a block, and where it is. */
export interface Posting {
  readonly term: Term
  readonly list: PostingList
}

/**
 * The postings of a block whose messages have these words, one message a line, in the order of their places. As text, for
 * {@link readPostings}: it is work for a thread.
 */
export function buildPostings(texts: string): string {
  const messages = texts.split('\n').map(text => text.trim().split(' '))
  const places = new Map<string, number[]>()
  const add = (key: string, place: number) => {
    const known = places.get(key)
    if (!known) places.set(key, [place])
    else if (known.at(-1) !== place) known.push(place)
  }
  for (const [place, words] of messages.entries())
    for (const word of words) {
      add(word, place)
      const character = leadingCharacter(word)
      if (character) add(characterKey(character), place)
    }
  const common = new Set(places.keys().filter(word => (places.get(word)?.length ?? 0) > maxListedPositions))
  for (const [place, words] of messages.entries())
    for (const [i, word] of words.entries()) {
      const next = words[i + 1]
      if (next !== undefined && common.has(word) && common.has(next)) add(`${word} ${next}`, place)
    }
  const postings = Array.from(places, ([key, found]) => {
    const term = termOf(key).toString('hex')
    return `${term}${packPositions(found).toString('hex')}`
  })
  return postings.sort().join('\n')
}

export function readPostings(text: string): readonly Posting[] {
  return text.split('\n').map(line => ({
    term: Buffer.from(line.slice(0, termBytes * 2), 'hex'),
    list: Buffer.from(line.slice(termBytes * 2), 'hex'),
  }))
}

/** Apart from the word that the character is at the end of a text. */
function characterKey(character: Token): string {
  return `${character}*`
}

function packPositions(places: readonly number[]): PostingList {
  if (places.length <= maxListedPositions) {
    const listed = Buffer.alloc(places.length * 2)
    for (const [i, place] of places.entries()) listed.writeUInt16LE(place, i * 2)
    return listed
  }
  const bits = Buffer.alloc(bitmapBytes)
  for (const place of places) bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7))
  return bits
}

function toBitmap(places: PostingList | undefined): Buffer {
  if (places?.length === bitmapBytes) return places
  const bits = Buffer.alloc(bitmapBytes)
  for (let at = 0; places && at < places.length; at += 2) {
    const place = places.readUInt16LE(at)
    bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7))
  }
  return bits
}

/** A query as it is asked of blocks. */
export interface SegmentQuery {
  /** The terms whose postings are needed. */
  readonly terms: readonly Term[]
  /** The places in a block that may have what is wanted, the newest first: phrases are still to be looked for there. */
  readonly positionsIn: (postings: ReadonlyMap<string, PostingList>) => readonly number[]
}

/** A posting's key in the map that {@link SegmentQuery.positionsIn} takes. */
export function termKey(term: Term): string {
  return term.toString('latin1')
}

export function segmentQuery({ required, excluded: unwanted }: SearchQuery): SegmentQuery {
  const all = required.map(queryClause => clauseTerms(queryClause))
  const none = unwanted.filter(queryClause => queryClause.kind === 'character' || queryClause.words.length === 1)
  const excluded = none.flatMap(queryClause => clauseTerms(queryClause).words)
  const needed = [...all.flatMap(clauseTerms => [...clauseTerms.words, ...clauseTerms.pairs]), ...excluded]
  return {
    terms: [...new Map(needed.map(term => [termKey(term), term])).values()],
    positionsIn(postings) {
      const posted = (term: Term) => postings.get(termKey(term))
      const found = Buffer.alloc(bitmapBytes, 0xff)
      const keep = (bits: Buffer) => {
        for (let i = 0; i < bitmapBytes; i++) found[i] = (found[i] ?? 0) & (bits[i] ?? 0)
      }
      for (const { words, pairs } of all) {
        for (const word of words) keep(toBitmap(posted(word)))
        for (const [i, pair] of pairs.entries()) {
          const areCommon = [words[i], words[i + 1]].every(word => word && posted(word)?.length === bitmapBytes)
          if (areCommon) keep(toBitmap(posted(pair)))
        }
      }
      for (const word of excluded) keep(toBitmap(posted(word)).map(byte => byte ^ 0xff) as Buffer)
      return positionsOf(found)
    },
  }
}

interface ClauseTerms {
  readonly words: readonly Term[]
  /** Of each word and the next. */
  readonly pairs: readonly Term[]
}

function clauseTerms(asked: QueryClause): ClauseTerms {
  if (asked.kind === 'character') return { words: [termOf(characterKey(asked.character))], pairs: [] }
  const { words } = asked
  const pairs = words.slice(1).map((word, i) => termOf(words[i] ?? '', word))
  return { words: words.map(word => termOf(word)), pairs }
}

function positionsOf(bits: Buffer): readonly number[] {
  const places: number[] = []
  for (let place = segmentSize - 1; place >= 0; place--)
    if ((bits[place >> 3] ?? 0) & (1 << (place & 7))) places.push(place)
  return places
}
