/**
 * A word as it is indexed: ASCII letters and digits, the same for all ways to write it. The tokens are our own, because
 * neither MySQL nor MariaDB splits Chinese, Japanese or Thai, or folds accents, as search needs it.
 */
export type Token = string

const maxTokenCharacters = 84
/** The most tokens of one message, with their spaces: some 500 KB of text in Latin letters. Eight fit into one statement. */
const maxSearchTextBytes = 1024 * 1024

const scripts = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}ー々'
const withoutSpaces = new RegExp(`[${scripts}]`, 'u')
const runs = new RegExp(`[${scripts}]+|[\\p{L}\\p{N}\\p{M}]+`, 'gu')
/** Accents, and the points of Hebrew and Arabic, which may be left out in writing; other scripts' vowel signs are letters. */
const accents = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]+/g

/**
 * The tokens of a text, in order, without case and accents. Scripts without spaces give overlapping pairs of characters,
 * and the last character alone, so that any part of a text is found.
 */
export function tokenize(text: string): Token[] {
  return Array.from(tokensOf(text))
}

/** The tokens of a text with a space before and after each, as they are stored in `search_texts`: at most 1 MiB of them. */
export function toSearchText(text: string): string {
  const ofAscii = text.length < maxSearchTextBytes && ascii.test(text) ? asciiSearchText(text) : undefined
  if (ofAscii !== undefined) return ofAscii
  const tokens: Token[] = []
  let bytesLeft = maxSearchTextBytes
  for (const token of tokensOf(text.slice(0, maxSearchTextBytes))) {
    bytesLeft -= token.length + 1
    if (bytesLeft < 0) break
    tokens.push(token)
  }
  return ` ${tokens.join(' ')} `
}

/** The tokens of ASCII text, made all at once; undefined: some of them have to be cut or left out. */
function asciiSearchText(text: string): string | undefined {
  // The last one is the beginning of a token that does not come.
  const tokens = ` ${text} `.toLowerCase().replace(separators, ' 0').slice(0, -1)
  if (tokens === ' ') return '  '
  return tokens.length > maxSearchTextBytes || hasLongToken(tokens) ? undefined : tokens
}

const separators = /[^a-z0-9]+/g

function hasLongToken(tokens: string): boolean {
  for (let at = 0; at + maxTokenCharacters + 1 < tokens.length; ) {
    const next = tokens.lastIndexOf(' ', at + maxTokenCharacters + 1)
    if (next === at) return true
    at = next
  }
  return false
}

const stepLength = 2 * 1024
const maxStepLength = 8 * 1024
/** Where a text can be divided: a word ends before it, however the text is folded. Sigma is folded by what follows a stop or colon. */
const divider = /[\s,;!?\uff0c\u3002\u3001\uff1b\uff01\uff1f]/

/**
 * {@link toSearchText} in steps of some milliseconds at most.
 * @returns null where the text cannot be divided into such steps, or has more tokens than are stored
 */
export function* toSearchTextInSteps(text: string): Generator<void, string | null> {
  const pieces: string[] = []
  let length = 0
  for (let at = 0; at < text.length; ) {
    const end = endOfStep(text, at)
    if (end === null) return null
    const piece = toSearchText(text.slice(at, end)).trim()
    if (piece !== '') pieces.push(piece)
    length += piece.length + 1
    if (length >= maxSearchTextBytes) return null
    at = end
    yield
  }
  return ` ${pieces.join(' ')} `
}

/** After the last divider of a step, or of a longer one where that has none; null: there is none either. */
function endOfStep(text: string, at: number): number | null {
  for (const length of [stepLength, maxStepLength]) {
    if (at + length >= text.length && text.length - at <= maxStepLength) return text.length
    for (let end = at + length; end > at; end--) if (divider.test(text.charAt(end - 1))) return end
  }
  return null
}

function tokensOf(text: string): Iterable<Token> {
  return ascii.test(text) ? asciiTokens(text) : foldedTokens(text)
}

const ascii = /^[\0-\x7f]*$/

/** What {@link foldedTokens} gives for ASCII, at a fraction of its cost. */
function asciiTokens(text: string): readonly Token[] {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.map(word => (word.length < maxTokenCharacters ? `0${word}` : `0${word}`.slice(0, maxTokenCharacters)))
}

function* foldedTokens(text: string): Generator<Token> {
  for (const [run] of foldCase(text).matchAll(runs)) {
    if (withoutSpaces.test(run)) {
      const characters = [...run]
      for (const [i, character] of characters.entries()) yield encodeToken(character + (characters[i + 1] ?? ''))
    } else yield encodeToken(run)
  }
}

function foldCase(text: string): string {
  // Through upper case, so that ß equals ss.
  return text.normalize('NFKD').replace(accents, '').toUpperCase().toLowerCase().normalize('NFKC')
}

function encodeToken(word: string): Token {
  const ascii = /^[a-z0-9]+$/.test(word) ? `0${word}` : `1${Buffer.from(word).toString('hex')}`
  return ascii.slice(0, maxTokenCharacters)
}

/** The first character of a token of a script without spaces, as a token; undefined: it is a token of another script. */
export function leadingCharacter(token: Token): Token | undefined {
  if (!token.startsWith('1')) return undefined
  const [first = ''] = Buffer.from(token.slice(1), 'hex').toString()
  return withoutSpaces.test(first) ? encodeToken(first) : undefined
}
