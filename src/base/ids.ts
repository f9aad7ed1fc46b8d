import { createHash, getRandomValues } from 'node:crypto'

/** What an identifier's prefix says it names. */
export type IdPrefix =
  | 'org'
  | 'brd'
  | 'dom'
  | 'rec'
  | 'mbx'
  | 'msg'
  | 'att'
  | 'eml'
  | 'evt'
  | 'tpl'
  | 'drf'
  | 'sup'
  | 'mem'
  | 'inv'
  | 'key'
  | 'req'
  | 'blb'
  | 'out'

/** `<prefix>_` and 26 characters of lower-case Crockford base32: 48 bits of time in milliseconds, 80 random bits. */
export type Id<Prefix extends IdPrefix> = `${Prefix}_${string}`

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** Any two characters, by ten bits. */
const pairs = Array.from({ length: 1024 }, (_, bits) => alphabet.charAt(bits >> 5) + alphabet.charAt(bits & 31))
const pool = new Uint8Array(4096)
let unused = pool.length

function nextRandom(count: number): Uint8Array {
  if (unused + count > pool.length) {
    getRandomValues(pool)
    unused = 0
  }
  unused += count
  return pool.subarray(unused - count, unused)
}

/** The text of the last millisecond that was asked for: most calls come in the same one. */
let lastMs = Number.NaN
let lastText = ''

function timeText(ms: number): string {
  if (ms === lastMs) return lastText
  lastMs = ms
  lastText = ''
  for (let rest = ms, i = 0; i < 10; i++) {
    lastText = alphabet.charAt(rest % 32) + lastText
    rest = Math.floor(rest / 32)
  }
  return lastText
}

/** 26 characters of lower-case Crockford base32 that sort by the millisecond in which they were made. */
export function newSortableToken(nowMs: number = Date.now()): string {
  const bytes = nextRandom(16)
  let random = ''
  for (let i = 0; i < 16; i += 2) random += pairs[(((bytes[i] ?? 0) & 31) << 5) | ((bytes[i + 1] ?? 0) & 31)]
  return timeText(nowMs) + random
}

/** 26 characters of lower-case Crockford base32 that stand for `text`: 130 bits of its SHA-256, the same at every call. */
export function stableToken(text: string): string {
  const digest = createHash('sha256').update(text).digest()
  return [...digest.subarray(0, 26)].map(byte => alphabet.charAt(byte & 31)).join('')
}

/** A fresh identifier; later ones sort after earlier ones, to the millisecond. */
export function newId<Prefix extends IdPrefix>(prefix: Prefix): Id<Prefix> {
  return `${prefix}_${newSortableToken()}`
}

/** Is `text` an identifier of this kind, as far as its form tells? */
export function isId<Prefix extends IdPrefix>(prefix: Prefix, text: string): text is Id<Prefix> {
  return text.length === 30 && text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(4))
}
