import { createHash } from 'node:crypto'
import type { Id } from '../base/ids.ts'

/**
 * The server's full-text index drops words under three letters and stop words, folds no accents as we want it, and does
 * not divide Chinese, Japanese or Thai. So it is given words of ours: ASCII only, each made of a mark of the organization
 * (so that one organization's words are never another's, and its searches cost only what it has) and the word.
 */
export type SearchWord = string

/** The longest word the server's index keeps, by default. */
const maxWordCharacters = 84
/** The most that is kept of one message's words: some 500 KB of text in Latin letters. Eight fit into one statement. */
const maxSearchTextBytes = 1024 * 1024

const scripts = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}ー々'
const undivided = new RegExp(`[${scripts}]`, 'u')
const pieces = new RegExp(`[${scripts}]+|[\\p{L}\\p{N}\\p{M}]+`, 'gu')
/** Accents, and the points of Hebrew and Arabic, which are written or not; the vowel signs of other scripts are letters. */
const accents = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]+/g

/** The mark that all words of an organization begin with: six letters. */
export function wordMark(organizationId: Id<'org'>): string {
  const digest = createHash('sha256').update(organizationId).digest()
  return Array.from(digest.subarray(0, 6), byte => String.fromCharCode(97 + (byte % 26))).join('')
}

/**
 * The words of a text, in order, without case and accents. Scripts without spaces give overlapping pairs of characters,
 * and the last character alone, so that any part of what is written is found.
 */
export function searchWords(mark: string, text: string): SearchWord[] {
  return Array.from(eachWord(mark, text))
}

/** The words of a text with spaces between, as they are indexed: as many as fit. */
export function searchText(text: string, mark: string): string {
  const words: SearchWord[] = []
  let room = maxSearchTextBytes
  for (const word of eachWord(mark, text.slice(0, maxSearchTextBytes))) {
    room -= word.length + 1
    if (room < 0) break
    words.push(word)
  }
  return words.join(' ')
}

function* eachWord(mark: string, text: string): Generator<SearchWord> {
  for (const [piece] of folded(text).matchAll(pieces)) {
    if (undivided.test(piece)) {
      const characters = [...piece]
      for (const [i, character] of characters.entries()) yield encode(mark, character + (characters[i + 1] ?? ''))
    } else yield encode(mark, piece)
  }
}

function folded(text: string): string {
  // By way of capitals, so that ß is ss.
  return text.normalize('NFKD').replace(accents, '').toUpperCase().toLowerCase().normalize('NFKC')
}

function encode(mark: string, word: string): SearchWord {
  const ascii = /^[a-z0-9]+$/.test(word) ? `0${word}` : `1${Buffer.from(word).toString('hex')}`
  return (mark + ascii).slice(0, maxWordCharacters)
}

/** A query in the server's boolean syntax, or null when it asks for nothing (exclusions alone exclude from nothing). */
export function booleanQuery(mark: string, query: string): string | null {
  const wanted: string[] = []
  const unwanted: string[] = []
  for (const [, minus, phrase, bare] of query.matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g)) {
    const words = searchWords(mark, phrase ?? bare ?? '')
    if (words.length > 0) (minus ? unwanted : wanted).push(`${minus ? '-' : '+'}${term(words)}`)
  }
  return wanted.length > 0 ? [...wanted, ...unwanted].join(' ') : null
}

/** One word, a phrase, or for one character of an undivided script whatever begins with it. */
function term(words: readonly SearchWord[]): string {
  const last = words.at(-1) ?? ''
  if (words.length === 1) return isLoneCharacter(last) ? `${last}*` : last
  // The text may go on where the query ends: there its last character stands in a pair, not alone.
  const phrase = isLoneCharacter(last) ? words.slice(0, -1) : words
  return phrase.length === 1 ? (phrase[0] ?? '') : `"${phrase.join(' ')}"`
}

function isLoneCharacter(word: SearchWord): boolean {
  const encoded = word.slice(6)
  if (!encoded.startsWith('1')) return false
  const character = Buffer.from(encoded.slice(1), 'hex').toString()
  return [...character].length === 1 && undivided.test(character)
}
