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
const undivided = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー々]/u
const pieces =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー々]+|[\p{L}\p{N}]+/gu

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
  const folded = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .normalize('NFKC')
  const words: SearchWord[] = []
  for (const [piece] of folded.matchAll(pieces)) {
    if (undivided.test(piece)) {
      const characters = [...piece]
      characters.forEach((character, i) => {
        words.push(encode(mark, character + (characters[i + 1] ?? '')))
      })
    } else words.push(encode(mark, piece))
  }
  return words
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
