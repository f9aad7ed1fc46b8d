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

/** 26 characters of lower-case Crockford base32 that sort by the millisecond in which they were made. */
export function newSortableToken(nowMs: number = Date.now()): string {
  let time = ''
  for (let rest = nowMs, i = 0; i < 10; i++) {
    time = alphabet.charAt(rest % 32) + time
    rest = Math.floor(rest / 32)
  }
  let random = ''
  for (const byte of nextRandom(16)) random += alphabet.charAt(byte & 31)
  return time + random
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
