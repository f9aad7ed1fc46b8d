/**
 * A word as it is indexed: ASCII letters and digits, the same for all ways to write it. Neither server divides Chinese,
 * Japanese or Thai, and neither folds accents as we want it, so the words are ours.
 */
export type Token = string

const maxWordCharacters = 84
/** The most that is kept of one message's words: some 500 KB of text in Latin letters. Eight fit into one statement. */
const maxSearchTextBytes = 1024 * 1024

const scripts = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}ー々'
const undivided = new RegExp(`[${scripts}]`, 'u')
const pieces = new RegExp(`[${scripts}]+|[\\p{L}\\p{N}\\p{M}]+`, 'gu')
/** Accents, and the points of Hebrew and Arabic, which are written or not; the vowel signs of other scripts are letters. */
const accents = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]+/g

/**
 * The words of a text, in order, without case and accents. Scripts without spaces give overlapping pairs of characters,
 * and the last character alone, so that any part of what is written is found.
 */
export function tokenize(text: string): Token[] {
  return Array.from(tokensOf(text))
}

/** The words of a text with a space before and after each, as they are indexed: as many as fit. */
export function toSearchText(text: string): string {
  const words: Token[] = []
  let room = maxSearchTextBytes
  for (const word of tokensOf(text.slice(0, maxSearchTextBytes))) {
    room -= word.length + 1
    if (room < 0) break
    words.push(word)
  }
  return ` ${words.join(' ')} `
}

function* tokensOf(text: string): Generator<Token> {
  for (const [piece] of foldCase(text).matchAll(pieces)) {
    if (undivided.test(piece)) {
      const characters = [...piece]
      for (const [i, character] of characters.entries()) yield encodeToken(character + (characters[i + 1] ?? ''))
    } else yield encodeToken(piece)
  }
}

function foldCase(text: string): string {
  // By way of capitals, so that ß is ss.
  return text.normalize('NFKD').replace(accents, '').toUpperCase().toLowerCase().normalize('NFKC')
}

function encodeToken(word: string): Token {
  const ascii = /^[a-z0-9]+$/.test(word) ? `0${word}` : `1${Buffer.from(word).toString('hex')}`
  return ascii.slice(0, maxWordCharacters)
}

/** The one character of an undivided script that a word is, or that a pair begins with; undefined: it is another word. */
export function leadingCharacter(word: Token): Token | undefined {
  if (!word.startsWith('1')) return undefined
  const [first = ''] = Buffer.from(word.slice(1), 'hex').toString()
  return undivided.test(first) ? encodeToken(first) : undefined
}
