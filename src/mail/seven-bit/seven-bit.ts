import { isAscii, isUtf8 } from 'node:buffer'
import libmime from 'libmime'
import { encode, wrap } from 'nodemailer/lib/qp'
import { dropFields, type RawField, readFields, unfold } from '../header.ts'
import { encodeField } from './encode-field.ts'
import { splitMultipart } from './split-multipart.ts'

/** RFC 5322 §2.1.1: octets of a line, without its CRLF. */
const maxLineOctets = 998
const maxDepth = 100
/** All of them: what is left out here would be missing in the message. */
const maxFields = Number.POSITIVE_INFINITY
/** Longer texts are base64: encoding them as quoted-printable takes too long. */
const maxQuotedBytes = 64 * 1024
const emptyLine = Buffer.from('\r\n')

/**
 * The same message in 7 bit (RFC 2045 §2.7): bodies beyond it, or with lines that are too long, as quoted-printable or
 * base64, and what is beyond ASCII in header fields as encoded words. A message that is in 7 bit stays byte for byte. What a
 * later server would have to convert is converted before it is signed (RFC 6376 §5.3).
 * @param message with CRLF line ends
 */
export function toSevenBit(message: Buffer): Buffer {
  return isSevenBit(message) ? message : Buffer.concat(sevenBitEntity(message, { depth: 0 }))
}

/** RFC 2045 §2.7, of bytes with CRLF line ends. */
export function isSevenBit(bytes: Buffer): boolean {
  return isAscii(bytes) && !bytes.includes(0) && longestLine(bytes) <= maxLineOctets
}

function longestLine(bytes: Buffer): number {
  let longest = 0
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(emptyLine, at)
    const next = end < 0 ? bytes.length : end
    longest = Math.max(longest, next - at)
    at = next + emptyLine.length
  }
  return longest
}

interface Nesting {
  /** 0: the message itself, or one that is attached. */
  readonly depth: number
  readonly isPart?: true
}

/** The pieces of a message or part. */
function sevenBitEntity(entity: Buffer, nesting: Nesting): readonly Buffer[] {
  if (isSevenBit(entity)) return [entity]
  const { head, body } = splitEntity(entity)
  const fields = readFields(head, maxFields)
  const type = contentTypeOf(fields)
  if (nesting.depth < maxDepth) {
    const inner = { depth: nesting.depth + 1 }
    if (type.value.startsWith('multipart/') && type.boundary !== '')
      return [sevenBitHead(head), emptyLine, ...sevenBitMultipart(body, type.boundary, { ...inner, isPart: true })]
    // Must not be encoded (RFC 2046 §5.2.1).
    if (type.value === 'message/rfc822' && !isEncoded(fields))
      return [sevenBitHead(head), emptyLine, ...sevenBitEntity(body, inner)]
  }
  return sevenBitLeaf(head, body, fields, nesting)
}

/** The header with the CRLF of its last field, and the body after the empty line. */
function splitEntity(entity: Buffer): { readonly head: Buffer; readonly body: Buffer } {
  if (entity.subarray(0, 2).equals(emptyLine)) return { head: Buffer.alloc(0), body: entity.subarray(2) }
  const end = entity.indexOf('\r\n\r\n')
  return end < 0
    ? { head: entity, body: Buffer.alloc(0) }
    : { head: entity.subarray(0, end + 2), body: entity.subarray(end + 4) }
}

function contentTypeOf(fields: readonly RawField[]): { readonly value: string; readonly boundary: string } {
  const field = fields.find(({ key }) => key === 'content-type')
  if (!field) return { value: '', boundary: '' }
  const { value, params } = libmime.parseHeaderValue(unfold(field).value)
  return { value: value.toLowerCase(), boundary: params['boundary'] ?? '' }
}

function encodingOf(fields: readonly RawField[]): string {
  const field = fields.find(({ key }) => key === 'content-transfer-encoding')
  return field ? (/[^\s"',;]+/.exec(unfold(field).value)?.[0] ?? '').toLowerCase() : '7bit'
}

function isEncoded(fields: readonly RawField[]): boolean {
  return ['base64', 'quoted-printable'].includes(encodingOf(fields))
}

function sevenBitMultipart(body: Buffer, boundary: string, nesting: Nesting): readonly Buffer[] {
  return splitMultipart(body, boundary).flatMap(({ kind, bytes }) =>
    kind === 'part' ? sevenBitEntity(bytes, nesting) : [asAscii(bytes)],
  )
}

/** What is before, between and after the parts, which nobody reads. */
function asAscii(bytes: Buffer): Buffer {
  return isSevenBit(bytes)
    ? bytes
    : Buffer.from(
        bytes
          .toString('latin1')
          .replace(/[^\t\r\n -~]/g, '?')
          .replace(/[^\r\n]{998}(?=[^\r\n])/g, '$&\r\n'),
      )
}

/** The header of what contains parts: those are in 7 bit now. */
function sevenBitHead(head: Buffer): Buffer {
  return withEncodedFields(dropFields(head, ({ key }) => key === 'content-transfer-encoding'))
}

function sevenBitLeaf(head: Buffer, body: Buffer, fields: readonly RawField[], nesting: Nesting): readonly Buffer[] {
  if (isSevenBit(body)) return [withEncodedFields(head), emptyLine, body]
  const decoded = decode(body, encodingOf(fields))
  const { encoding, bytes } = encodeBody(decoded, contentTypeOf(fields).value)
  const remaining = withEncodedFields(dropFields(head, ({ key }) => key === 'content-transfer-encoding'))
  return [
    remaining,
    ...missingFields(fields, decoded, nesting).map(line => Buffer.from(`${line}\r\n`)),
    Buffer.from(`Content-Transfer-Encoding: ${encoding}\r\n`),
    emptyLine,
    bytes,
  ]
}

/** Without them, no reader would decode the body (RFC 2045 §4, §5.2). */
function missingFields(fields: readonly RawField[], decoded: Buffer, { isPart }: Nesting): readonly string[] {
  const has = (key: string) => fields.some(field => field.key === key)
  const charset = isUtf8(decoded) ? 'utf-8' : 'unknown-8bit'
  return [
    ...(isPart || has('mime-version') ? [] : ['MIME-Version: 1.0']),
    ...(has('content-type') ? [] : [`Content-Type: text/plain; charset=${charset}`]),
  ]
}

function decode(body: Buffer, encoding: string): Buffer {
  switch (encoding) {
    case 'base64':
      return Buffer.from(body.toString('latin1'), 'base64')
    case 'quoted-printable':
      return decodeQuoted(body)
    default:
      return body
  }
}

/** RFC 2045 §6.7; bytes that should have been encoded, and `=` that encodes nothing, stay as they are. */
function decodeQuoted(body: Buffer): Buffer {
  const text = body
    .toString('latin1')
    .replace(/[ \t]+(?=\r\n|$)/g, '')
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(text, 'latin1')
}

function encodeBody(decoded: Buffer, type: string): { readonly encoding: string; readonly bytes: Buffer } {
  const isText = type === '' || type.startsWith('text/') || type.startsWith('message/')
  if (isText && decoded.length <= maxQuotedBytes && isMostlyAscii(decoded))
    return { encoding: 'quoted-printable', bytes: Buffer.from(wrap(encode(decoded), 76), 'latin1') }
  const lines = decoded.toString('base64').replace(/.{76}(?=.)/g, '$&\r\n')
  return { encoding: 'base64', bytes: Buffer.from(`${lines}\r\n`, 'latin1') }
}

function isMostlyAscii(bytes: Buffer): boolean {
  let others = 0
  for (const byte of bytes) if (byte > 0x7e) others++
  return others * 3 <= bytes.length
}

/** The header with each field in ASCII. */
function withEncodedFields(head: Buffer): Buffer {
  if (isAscii(head)) return head
  const lines = readFields(head, maxFields).map(field => `${encodeField(field)}\r\n`)
  return Buffer.from(lines.join(''), 'latin1')
}
