import libmime from 'libmime'
import { bodyStart, type HeaderField, readFields, unfold } from '../header.ts'

/** A leaf part of a report, with its text decoded. An attached message is one part. */
export interface ReportPart {
  /** Lower case, such as `message/delivery-status`. */
  readonly type: string
  /** Line ends are LF. */
  readonly text: string
}

/** A message, parsed as far as reading a report needs it. */
export interface ReportMessage {
  readonly fields: readonly HeaderField[]
  /** Content-Type of the message, lower case, with its parameters. */
  readonly type: ContentType
  readonly parts: readonly ReportPart[]
}

interface ContentType {
  readonly name: string
  readonly parameters: ReadonlyMap<string, string>
}

/** How much of a message is read, in bytes: a report comes before the message that it returns. */
export const maxReportBytes = 256 * 1024
const maxParts = 40
const maxDepth = 6
const maxFields = 500
/** How much of a field's value is parsed or decoded, in characters: a hostile one costs milliseconds a KiB. */
const maxValue = 4096

/** Parses a message into its leaf parts, in order, without descending into attached messages. Pure and bounded. */
export function parseReportMime(message: Buffer): ReportMessage {
  const bytes = message.subarray(0, maxReportBytes)
  const { fields, body } = splitEntity(Buffer.from(bytes.toString('latin1').replace(/\r\n?/g, '\n'), 'latin1'))
  const parts: ReportPart[] = []
  collect(fields, body, 0, parts)
  return { fields, type: contentTypeOf(fields), parts }
}

interface Entity {
  readonly fields: readonly HeaderField[]
  readonly body: Buffer
}

function splitEntity(bytes: Buffer): Entity {
  const start = bodyStart(bytes)
  const head = start === null ? bytes : bytes.subarray(0, start)
  return { fields: readFields(head, maxFields).map(unfold), body: bytes.subarray(head.length) }
}

function collect(fields: readonly HeaderField[], body: Buffer, depth: number, parts: ReportPart[]): void {
  const type = contentTypeOf(fields)
  const boundary = type.name.startsWith('multipart/') ? type.parameters.get('boundary') : undefined
  const pieces =
    boundary === undefined || depth >= maxDepth
      ? []
      : (partsOf(body, boundary) ?? partsOf(body, usedBoundary(body)) ?? [])
  for (const piece of pieces) {
    if (parts.length >= maxParts) return
    const entity = splitEntity(piece)
    collect(entity.fields, entity.body, depth + 1, parts)
  }
  if (pieces.length === 0)
    parts.push({
      type: type.name.startsWith('multipart/') ? 'text/plain' : type.name,
      text: decode(fields, type, body),
    })
}

function partsOf(body: Buffer, boundary: string | undefined): readonly Buffer[] | null {
  const pieces = boundary === undefined ? [] : piecesOf(body, boundary)
  return pieces.length > 0 ? pieces : null
}

/** The boundary that the body has, where it is not the one that its header declares. */
function usedBoundary(body: Buffer): string | undefined {
  return /(?:^|\n)--([^\s-][^\s]{0,69}|-[^\s]{8,69})\ncontent-/i.exec(body.toString('latin1', 0, maxValue))?.[1]
}

/** The pieces between the delimiter lines (RFC 2046 §5.1.1); the last one need not be closed. */
function piecesOf(body: Buffer, boundary: string): readonly Buffer[] {
  const pieces: Buffer[] = []
  const text = body.toString('latin1')
  const delimiter = `--${boundary}`
  let from = -1
  for (let at = lineAt(text, delimiter, 0); at >= 0; at = lineAt(text, delimiter, at + 1)) {
    if (from >= 0) pieces.push(body.subarray(from, Math.max(at - 1, from)))
    const end = text.indexOf('\n', at)
    const isLast = text.startsWith('--', at + delimiter.length)
    from = end < 0 || isLast ? -1 : end + 1
    if (from < 0) break
  }
  if (from >= 0) pieces.push(body.subarray(from))
  return pieces
}

function lineAt(text: string, start: string, from: number): number {
  for (let at = text.indexOf(start, from); at >= 0; at = text.indexOf(start, at + 1)) {
    const rest = text.slice(at + start.length, at + start.length + 3)
    if ((at === 0 || text[at - 1] === '\n') && /^(?:--|[ \t]*(?:\n|$))/.test(rest)) return at
  }
  return -1
}

/** The value of the first field with this name, which is given in lower case. */
export function fieldOf(fields: readonly HeaderField[], name: string): string | undefined {
  return fields.find(field => field.name.length === name.length && field.name.toLowerCase() === name)?.value
}

function contentTypeOf(fields: readonly HeaderField[]): ContentType {
  const { value, params } = libmime.parseHeaderValue(
    (fieldOf(fields, 'content-type') ?? 'text/plain').slice(0, maxValue),
  )
  const name = /^\s*([\w.+-]+\/[\w.+-]+)/.exec(value || '')?.[1]?.toLowerCase() ?? 'text/plain'
  return { name, parameters: new Map(Object.entries(params)) }
}

function decode(fields: readonly HeaderField[], type: ContentType, body: Buffer): string {
  const bytes = decodeTransferEncoding(fieldOf(fields, 'content-transfer-encoding')?.trim().toLowerCase(), body)
  return decodeCharset(bytes, type.parameters.get('charset')).replace(/\r\n?/g, '\n')
}

/** RFC 2045 §6. */
function decodeTransferEncoding(encoding: string | undefined, body: Buffer): Buffer {
  switch (encoding) {
    case 'base64':
      return Buffer.from(body.toString('latin1'), 'base64')
    case 'quoted-printable':
      return decodeQuotedPrintable(body.toString('latin1'))
    default:
      return body
  }
}

function decodeQuotedPrintable(text: string): Buffer {
  const joined = text.replace(/[ \t]+$/gm, '').replace(/=\n/g, '')
  const bytes = joined.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1')
}

// ISO-2022-JP (RFC 1468) is 7-bit: without its declared charset it would pass for ASCII.
const japaneseEscape = /\p{Cc}(?:\$[@B]|\([IJ])/u

/** Bytes that are not text of their charset, or of one that is unknown, are read as UTF-8 or else as Latin-1. */
function decodeCharset(bytes: Buffer, charset = 'utf-8'): string {
  if (japaneseEscape.test(bytes.toString('latin1')))
    return libmime.decodeWord('iso-2022-jp', 'B', bytes.toString('base64'))
  const attempts = [
    () => decodeStrictly(bytes, charset),
    () => decodeByLibrary(bytes, charset),
    () => decodeStrictly(bytes, 'utf-8'),
  ]
  for (const attempt of attempts)
    try {
      return attempt()
    } catch {
      // Reporters name charsets that do not exist, or that their text is not in.
    }
  return bytes.toString('latin1')
}

function decodeStrictly(bytes: Buffer, charset: string): string {
  return new TextDecoder(charset as Bun.Encoding, { fatal: true }).decode(bytes)
}

/** Knows more charsets than TextDecoder, and variants of them. */
function decodeByLibrary(bytes: Buffer, charset: string): string {
  const text = libmime.decodeWord(charset, 'B', bytes.toString('base64'))
  if (text.includes('\ufffd')) throw new Error(`no text in ${charset}`)
  return text
}

/**
 * A field's value, at most 4 KiB of it, with its encoded words decoded (RFC 2047). Notes also writes ISO-2022-JP as it is.
 */
export function decodeEncodedWords(value: string): string {
  const start = value.slice(0, maxValue)
  return japaneseEscape.test(start) ? decodeCharset(Buffer.from(start, 'latin1')) : libmime.decodeWords(start)
}
