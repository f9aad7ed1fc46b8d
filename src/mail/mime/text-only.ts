import { isAscii } from 'node:buffer'
import { bodyStart, type RawField, readFields, unfold } from '../header.ts'
import { hasBareLineEnd } from '../seven-bit/crlf.ts'

/** A message with more parts, and a part with more fields, is parsed. */
const maxParts = 20
const maxPartFields = 50
/** What ISO-2022 leaves ASCII with (RFC 1468). */
const escapeByte = 0x1b

const parameter = String.raw`;\s*(?:charset|format|delsp)\s*=\s*(?:"[\w.+-]+"|[\w.+-]+)\s*`
const textType = new RegExp(`^text/(plain|html)\\s*((?:${parameter})*)$`, 'i')
const multipartType =
  /^multipart\/(alternative|mixed)\s*;\s*boundary\s*=\s*(?:"([\w'()+,./:=?-]{1,70})"|([\w'+.-]{1,70}))\s*$/i
const leafEncoding = /^(?:7bit|8bit|quoted-printable|base64)$/i
const multipartEncoding = /^(?:7bit|8bit)$/i
const fieldLine = /^[!-9;-~]+:/
const continuation = /^[ \t]+\S/

/** A text of a message, as it is in the message. */
export interface UndecodedText {
  readonly subtype: 'plain' | 'html'
  /** The parameters of its type, from the first `;` on; empty: it has none, or no type. */
  readonly parameters: string
  /** Lower case. */
  readonly encoding: string
  readonly body: Buffer
}

/** A message that holds text and nothing else. */
export interface TextOnlyMessage {
  readonly fields: readonly RawField[]
  readonly multipart: 'alternative' | 'mixed' | null
  /** One, where it is no multipart. */
  readonly texts: readonly UndecodedText[]
}

/**
 * The header fields and the texts of a message of which every reader says that it holds text and nothing else: it is one
 * text, or a multipart of texts, in ASCII, with CRLF line ends, and without a name or a disposition of any part. Undefined:
 * its body has to be parsed to know what is in it; also where it only departs from the standards, or is unusual.
 */
export function readTextOnly(message: Buffer, maxFields: number): TextOnlyMessage | undefined {
  const start = bodyStart(message)
  if (start === null || !isAscii(message) || message.includes(escapeByte)) return undefined
  const found = findTexts(message, start, maxFields)
  // Last, since it reads all of the message: one with an attachment is ruled out before.
  return found && !hasBareLineEnd(message) ? found : undefined
}

/** Whatever its line ends are. */
function findTexts(message: Buffer, start: number, maxFields: number): TextOnlyMessage | undefined {
  const head = message.subarray(0, start)
  const fields = hasOnlyFields(head) ? readFields(head, maxFields) : []
  if (fields.length === 0 || fields.length === maxFields) return undefined
  const body = message.subarray(start)
  const text = textOf(fields, body)
  if (text) return { fields, multipart: null, texts: [text] }
  const [type = '', ...more] = valuesOf(fields, 'content-type')
  const [, multipart, quoted, boundary = quoted] = multipartType.exec(type) ?? []
  if (boundary === undefined || more.length > 0 || encodingOf(fields, multipartEncoding) === undefined) return undefined
  const texts = partsOf(body, boundary)?.map(readPart)
  if (!texts?.every(part => part !== undefined)) return undefined
  return { fields, multipart: multipart?.toLowerCase() === 'alternative' ? 'alternative' : 'mixed', texts }
}

/** Is each line of a header, up to the empty one, a field or the continuation of one? */
function hasOnlyFields(head: Buffer): boolean {
  const lines = head.toString('latin1').split('\r\n').slice(0, -2)
  return lines.every((line, i) => fieldLine.test(line) || (i > 0 && continuation.test(line)))
}

/** The text that a message or a part is; undefined: it is something else, or may be to some readers. */
function textOf(fields: readonly RawField[], body: Buffer): UndecodedText | undefined {
  const [type = 'text/plain', ...more] = valuesOf(fields, 'content-type')
  const [, subtype, parameters = ''] = textType.exec(type) ?? []
  const encoding = encodingOf(fields, leafEncoding)
  if (subtype === undefined || encoding === undefined || more.length > 0) return undefined
  return { subtype: subtype.toLowerCase() === 'html' ? 'html' : 'plain', parameters, encoding, body }
}

function valuesOf(fields: readonly RawField[], key: string): readonly string[] {
  return fields.filter(field => field.key === key).map(field => unfold(field).value)
}

/**
 * The transfer encoding, where it is one of these and nothing makes the body a file; undefined: it is another, or readers may
 * differ.
 */
function encodingOf(fields: readonly RawField[], encodings: RegExp): string | undefined {
  const [encoding = '7bit', ...more] = valuesOf(fields, 'content-transfer-encoding')
  const isClear = more.length === 0 && encodings.test(encoding) && valuesOf(fields, 'content-disposition').length === 0
  return isClear ? encoding.toLowerCase() : undefined
}

/** The parts between the delimiters; undefined where one of these, or their order, may be read in more ways than one. */
function partsOf(body: Buffer, boundary: string): readonly Buffer[] | undefined {
  const delimiter = `--${boundary}`
  const parts: Buffer[] = []
  let at = body.indexOf(delimiter)
  if (at > 0 && !isLineStart(body, at)) return undefined
  while (at >= 0) {
    const after = at + delimiter.length
    const next = body.indexOf(`\r\n${delimiter}`, after)
    const isClosing = startsWith(body, '--', after)
    if (isClosing) return next < 0 && isEnd(body, after + 2) ? parts : undefined
    if (next < 0 || !startsWith(body, '\r\n', after) || parts.length === maxParts) return undefined
    parts.push(body.subarray(after + 2, Math.max(after + 2, next)))
    at = next + 2
  }
  return undefined
}

function isLineStart(bytes: Buffer, at: number): boolean {
  return startsWith(bytes, '\r\n', at - 2)
}

function startsWith(bytes: Buffer, text: string, at: number): boolean {
  return at >= 0 && bytes.toString('latin1', at, at + text.length) === text
}

/** Nothing but line ends follows. */
function isEnd(bytes: Buffer, from: number): boolean {
  return /^(?:\r\n)*$/.test(bytes.toString('latin1', from, from + 64)) && bytes.length - from <= 64
}

function readPart(part: Buffer): UndecodedText | undefined {
  const start = bodyStart(part)
  if (start === null) return undefined
  const head = part.subarray(0, start)
  const fields = hasOnlyFields(head) ? readFields(head, maxPartFields) : undefined
  return fields && fields.length < maxPartFields ? textOf(fields, part.subarray(start)) : undefined
}
