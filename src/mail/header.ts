/** A header field (RFC 5322 §2.2), unfolded; bytes that are not UTF-8 are replaced by U+FFFD. */
export interface HeaderField {
  readonly name: string
  readonly value: string
}

/** A field as it is in the message: folded, with one character for each byte (latin1). */
export interface RawField {
  /** The name in lower case. */
  readonly key: string
  readonly line: string
}

const LF = 0x0a
const CR = 0x0d

/**
 * The offset of the first byte of the body, after the empty line that ends the header. Null without an empty line: all of
 * `bytes` is header.
 */
export function bodyStart(bytes: Buffer): number | null {
  for (let at = 0; at >= 0 && at < bytes.length; at = nextLine(bytes, at)) {
    if (bytes[at] === LF) return at + 1
    if (bytes[at] === CR && bytes[at + 1] === LF) return at + 2
  }
  return null
}

function nextLine(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(LF, from)
  return end < 0 ? -1 : end + 1
}

/** The fields of a header in order, duplicates included; lines without a colon are skipped. */
export function readFields(head: Buffer, maxFields: number): readonly RawField[] {
  const fields: RawField[] = []
  for (let at = 0; at >= 0 && at < head.length && fields.length < maxFields; ) {
    const end = fieldEnd(head, at)
    const line = head.toString('latin1', at, end).replace(/\r?\n$/, '')
    const colon = line.indexOf(':')
    if (line === '') break
    if (colon > 0) fields.push({ key: line.slice(0, colon).trim().toLowerCase(), line })
    at = end
  }
  return fields
}

/** Whether the header of the message has a field of this name, given in lower case. */
export function hasField(message: Buffer, key: string): boolean {
  for (let at = 0; at < message.length; at = fieldEnd(message, at)) {
    if (message[at] === LF || message[at] === CR) return false
    const colon = message.indexOf(0x3a, at)
    if (colon < 0) return false
    if (colon - at >= key.length && message.toString('latin1', at, colon).trim().toLowerCase() === key) return true
  }
  return false
}

/** The offset after the field that begins at `start`, with its folded lines. */
function fieldEnd(head: Buffer, start: number): number {
  let at = start
  do {
    const next = nextLine(head, at)
    if (next < 0) return head.length
    at = next
  } while (head[at] === 0x20 || head[at] === 0x09)
  return at
}

/** Name and unfolded value (RFC 5322 §2.2.3). */
export function unfold({ line }: RawField): HeaderField {
  const colon = line.indexOf(':')
  const value = line
    .slice(colon + 1)
    .replace(/\r?\n(?=[ \t])/g, '')
    .trim()
  return { name: line.slice(0, Math.max(colon, 0)).trim(), value: utf8(value) }
}

function utf8(latin1: string): string {
  for (let i = 0; i < latin1.length; i++)
    if (latin1.charCodeAt(i) > 0x7f) return Buffer.from(latin1, 'latin1').toString('utf8')
  return latin1
}

/** The header without the fields for which `isDropped` is true; the rest stays byte for byte. */
export function dropFields(head: Buffer, isDropped: (field: RawField) => boolean): Buffer {
  const remaining: Buffer[] = []
  for (let at = 0; at >= 0 && at < head.length; ) {
    const end = fieldEnd(head, at)
    const line = head.toString('latin1', at, end)
    const colon = line.indexOf(':')
    const key = colon < 0 ? '' : line.slice(0, colon).trim().toLowerCase()
    if (key === '' || !isDropped({ key, line })) remaining.push(head.subarray(at, end))
    at = end
  }
  return Buffer.concat(remaining)
}

const identifier = /<\s*([^<>\s]{1,996})\s*>/g
const bareIdentifier = /^[^<>\s@,;:"()]{1,500}@[^<>\s@,;:"()]{1,495}$/

/**
 * The message identifiers in a field, in order, without angle brackets (RFC 5322 §3.6.4). Some programs leave the brackets
 * out: then the field holds nothing else.
 */
export function readIdentifiers(value: string): readonly string[] {
  const identifiers = Array.from(value.matchAll(identifier), match => match[1] ?? '')
  if (identifiers.length > 0) return identifiers
  const words = value.split(/[\s,]+/).filter(word => word !== '')
  return words.every(word => bareIdentifier.test(word)) ? words : []
}
