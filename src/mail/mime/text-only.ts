import { isAscii } from 'node:buffer'
import { bodyStart, type RawField, readFields, unfold } from '../header.ts'

/** A message with more parts, and a part with more fields, is parsed. */
const maxParts = 20
const maxPartFields = 50
/** What ISO-2022 leaves ASCII with (RFC 1468). */
const escapeByte = 0x1b

const parameter = String.raw`;\s*(?:charset|format|delsp)\s*=\s*(?:"[\w.+-]+"|[\w.+-]+)\s*`
const textType = new RegExp(`^text/(?:plain|html)\\s*(?:${parameter})*$`, 'i')
const multipartType =
  /^multipart\/(?:alternative|mixed)\s*;\s*boundary\s*=\s*(?:"([\w'()+,./:=?-]{1,70})"|([\w'+.-]{1,70}))\s*$/i
const leafEncoding = /^(?:7bit|8bit|quoted-printable|base64)$/i
const multipartEncoding = /^(?:7bit|8bit)$/i
const fieldLine = /^[!-9;-~]+:/

/**
 * The header fields of a message of which every reader says that it holds text and nothing else: it is one text, or a
 * multipart of texts, in ASCII, with CRLF line ends, and without a name or a disposition of any part. Undefined: its body has
 * to be parsed to know what is in it; also where it only departs from the standards, or is unusual.
 */
export function fieldsOfTextOnly(message: Buffer, maxFields: number): readonly RawField[] | undefined {
  const start = bodyStart(message)
  if (start === null || !isAscii(message) || message.includes(escapeByte)) return undefined
  const fields = readFields(message.subarray(0, start), maxFields)
  const [type, ...more] = valuesOf(fields, 'content-type')
  if (fields.length === maxFields || more.length > 0) return undefined
  if (type === undefined || textType.test(type)) return isPlain(fields, leafEncoding) ? fields : undefined
  const [, quoted, boundary = quoted] = multipartType.exec(type) ?? []
  if (boundary === undefined || !isPlain(fields, multipartEncoding)) return undefined
  return partsOf(message.subarray(start), boundary)?.every(isText) ? fields : undefined
}

function valuesOf(fields: readonly RawField[], key: string): readonly string[] {
  return fields.filter(field => field.key === key).map(field => unfold(field).value)
}

/** Is what is said of the body, besides its type, something that all readers understand and that makes it no file? */
function isPlain(fields: readonly RawField[], encodings: RegExp): boolean {
  const [encoding = '7bit', ...more] = valuesOf(fields, 'content-transfer-encoding')
  return more.length === 0 && encodings.test(encoding) && valuesOf(fields, 'content-disposition').length === 0
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

function isText(part: Buffer): boolean {
  const start = bodyStart(part)
  if (start === null) return false
  const head = part.subarray(0, start)
  const lines = head.toString('latin1').split('\r\n').slice(0, -2)
  if (!lines.every((line, i) => fieldLine.test(line) || (i > 0 && /^[ \t]+\S/.test(line)))) return false
  const fields = readFields(head, maxPartFields)
  const [type = 'text/plain', ...more] = valuesOf(fields, 'content-type')
  return more.length === 0 && fields.length < maxPartFields && textType.test(type) && isPlain(fields, leafEncoding)
}
