import { isUtf8 } from 'node:buffer'
import libmime from 'libmime'
import type { RawField } from '../header.ts'

const encodedWord = /(=\?[\w*-]+\?[QqBb]\?[^?]*\?=)/
const qWord = /^=\?([\w*-]+)\?[Qq]\?([^?]*)\?=$/
const esc = '\u001b'
/** The escape sequences with which ISO-2022 leaves ASCII. */
const isoEscape = new RegExp(`${esc}[$(]`)
const iso2022Jp = new RegExp(`${esc}(?:\\$[@B]|\\([IJ])`)
const beyondAscii = new RegExp(`[\\x80-\\xff]|${isoEscape.source}`)

/** Whether a field has bytes that only a charset explains: neither ASCII nor UTF-8, outside encoded words. */
export function needsCharset({ line }: RawField): boolean {
  return beyondAscii.test(line) && !isReadable(rawTextOf(line))
}

/** Whether a field has bytes that are not ASCII. */
export function isBeyondAscii({ line }: RawField): boolean {
  return beyondAscii.test(line)
}

/** The charset that the Content-Type among these fields declares. */
export function declaredCharset(fields: readonly RawField[]): string | undefined {
  const line = fields.find(field => field.key === 'content-type')?.line
  return line && /;\s*charset\s*=\s*["']?([\w.:+-]{1,40})/i.exec(line)?.[1]
}

/**
 * The field with what is beyond ASCII in it as UTF-8, one character a byte, as the parser expects it. Such bytes are not
 * valid (RFC 2047 §2 for encoded words, RFC 5322 §2.2), except for UTF-8 (RFC 6532): they are read as UTF-8, or else in the
 * charset of the encoded word, or outside of one in `charset`.
 */
export function withUtf8Text(raw: RawField, charset: string | undefined): RawField {
  const { key, line } = raw
  if (!beyondAscii.test(line)) return raw
  const isRawReadable = isReadable(rawTextOf(line))
  const pieces = line.split(encodedWord)
  const readable = pieces.map((piece, i) => {
    if (!beyondAscii.test(piece)) return piece
    if (i % 2 === 1) return asciiWord(piece)
    return isRawReadable ? piece : (decoded(piece, iso2022Jp.test(piece) ? 'iso-2022-jp' : charset) ?? piece)
  })
  return { key, line: readable.join('') }
}

/** What is outside of encoded words. */
function rawTextOf(line: string): string {
  return line
    .split(encodedWord)
    .filter((_, i) => i % 2 === 0)
    .join('')
}

function isReadable(bytes: string): boolean {
  return !isoEscape.test(bytes) && isUtf8(Buffer.from(bytes, 'latin1'))
}

/** The encoded word in ASCII. Its charset becomes UTF-8 where that is what its bytes are. */
function asciiWord(word: string): string {
  const [, charset = '', text = ''] = qWord.exec(word) ?? []
  if (charset === '') return word
  const bytes = text.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const isInUtf8 = isUtf8(Buffer.from(bytes, 'latin1'))
  return `=?${isInUtf8 ? 'utf-8' : charset}?Q?${text.replace(/[^ -~\t\r\n]/g, quoted)}?=`
}

function quoted(byte: string): string {
  return `=${byte.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`
}

/** The text in UTF-8, one character a byte; undefined where the charset is unknown, or does not contain ASCII as it is. */
function decoded(bytes: string, charset: string | undefined): string | undefined {
  if (charset === undefined || decodeFrom(charset, asciiSample) !== asciiSample) return undefined
  return Buffer.from(decodeFrom(charset, bytes)).toString('latin1')
}

const asciiSample = 'Az09 +AEA- @<>,'

function decodeFrom(charset: string, bytes: string): string {
  return libmime.decodeWord(charset, 'B', Buffer.from(bytes, 'latin1').toString('base64'))
}
