import { createHash, getRandomValues } from 'node:crypto'

/** The prefix of an identifier names the kind of thing that it identifies. */
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
  | 'aud'
  | 'usr'
  | 'pky'
  | 'ses'
  | 'lnk'
  | 'tsk'
  | 'whk'
  | 'whd'

/**
 * `<prefix>_` and 26 characters of lower-case Crockford base32: 50 bits of time in milliseconds, 15 bits that count
 * within the millisecond, 65 random bits. So the ids of one process sort in the order of their creation.
 */
export type Id<Prefix extends IdPrefix> = `${Prefix}_${string}`

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** All pairs of characters, by ten bits. */
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

/** The last millisecond, its text, and how many tokens were created in it: most calls come within the same one. */
let lastMs = Number.NaN
let lastText = ''
let count = 0

function timeText(ms: number): string {
  let text = ''
  for (let rest = ms, i = 0; i < 10; i++) {
    text = alphabet.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** 26 characters of lower-case Crockford base32; those of one process sort in the order of their creation. */
export function newSortableToken(nowMs: number = Date.now()): string {
  if (nowMs === lastMs) count = (count + 1) & 0x7fff
  else {
    lastMs = nowMs
    lastText = timeText(nowMs)
    count = 0
  }
  const bytes = nextRandom(13)
  let random = alphabet.charAt((bytes[12] ?? 0) & 31)
  for (let i = 0; i < 12; i += 2) random += pairs[(((bytes[i] ?? 0) & 31) << 5) | ((bytes[i + 1] ?? 0) & 31)]
  return `${lastText}${pairs[count >> 5]}${alphabet.charAt(count & 31)}${random}`
}

/** 26 characters of lower-case Crockford base32, the same for the same `text`: 130 bits of its SHA-256. */
export function stableToken(text: string): string {
  const digest = createHash('sha256').update(text).digest()
  return [...digest.subarray(0, 26)].map(byte => alphabet.charAt(byte & 31)).join('')
}

/** A new identifier; it sorts after the earlier ones of this process (unless its clock goes back). */
export function newId<Prefix extends IdPrefix>(prefix: Prefix): Id<Prefix> {
  return `${prefix}_${newSortableToken()}`
}

/** Whether `text` has the form of an identifier of this kind. */
export function isId<Prefix extends IdPrefix>(prefix: Prefix, text: string): text is Id<Prefix> {
  return text.length === 30 && text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(4))
}
