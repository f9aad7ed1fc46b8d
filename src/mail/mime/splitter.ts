import type { RawField } from '../header.ts'
import { type Base64Decoder, decodeNatively } from './native-base64.ts'
import { type PartFields, repairHeader } from './part-header.ts'
import { UuDecoder } from './uuencode.ts'

// Work around @zone-eu/mailsplit 5.4.19, which mailparser reads messages with: where a message departs from MIME in a way
// that other readers take, it loses text and attachments.

export interface SplitterNode extends PartFields {
  /** The boundary of the multipart that it is in, and that multipart. */
  readonly _parentBoundary: Buffer | false
  readonly _parentBoundaryOwner: SplitterNode | false
  readonly headers: { getList(): readonly RawField[] } | false
  readonly _headersLines: readonly Buffer[]
  parseHeaders(): void
  getDecoder(): NodeJS.ReadWriteStream
}

/** A part, a piece of a body, or what is between parts. */
interface SplitterChunk {
  readonly type?: 'node' | 'body' | 'data'
  readonly node?: SplitterNode
  readonly value?: Buffer
}

type LineCallback = (error?: Error | null, chunk?: SplitterChunk | false, flush?: boolean) => void

/** The splitter (mailsplit, lib/message-splitter.js). */
export interface Splitter {
  node: SplitterNode
  readonly state: number
  /** 1 and 2: a delimiter of the node; 3 and 4: of the multipart that it is in. */
  checkBoundary(line: Buffer): 1 | 2 | 3 | 4 | false
  compareBoundary(line: Buffer, start: number, boundary: Buffer): DelimiterKind | false
  newNode(parent?: SplitterNode | false): void
  processLine(line: Buffer | false, isFinal: boolean, next: LineCallback): void
  /** The beginning of a line of which the rest is still to come. */
  takePendingLine(): Buffer | false
  appendPendingLine(bytes: Buffer): void
  enforcePendingLineLimit(): Error | null
  /** What comes next is the rest of a line whose beginning was given on: it is no delimiter. */
  pendingLineTruncated: boolean
  hasFailed: boolean
  push(chunk: SplitterChunk): boolean
  _transform(bytes: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void
}

/** The delimiter of a further part, or the one that closes the multipart. */
type DelimiterKind = 1 | 2

const inHeader = 1

/**
 * Makes this splitter read what others read: it is the one place where a message is split, from memory or from a file.
 * @param onRepair called where it reads a message differently, as not all others do
 */
export function makeLenient(splitter: Splitter, onRepair: () => void): void {
  const { checkBoundary, compareBoundary, newNode, processLine } = splitter
  splitter.compareBoundary = (line, start, boundary) => {
    const strict = compareBoundary.call(splitter, line, start, boundary)
    const kind = strict || delimiterKind(line, start, boundary)
    if (kind !== strict) onRepair()
    return kind
  }
  splitter.checkBoundary = line => {
    const start = lineEndLength(line)
    if (line[start] !== dash || line[start + 1] !== dash) return false
    const inner = checkBoundary.call(splitter, line)
    const kind = inner || endOfUnclosed(splitter, line, start)
    if (kind !== inner) onRepair()
    return kind
  }
  splitter.newNode = parent => {
    newNode.call(splitter, parent)
    repairNode(splitter.node, onRepair)
  }
  repairNode(splitter.node, onRepair)
  splitter.processLine = (line, isFinal, next) => {
    if (splitter.state !== inHeader) return processLine.call(splitter, line, isFinal, next)
    const whole = Buffer.concat([splitter.takePendingLine() || Buffer.alloc(0), line || Buffer.alloc(0)])
    if (!isFirstLineOfText(splitter.node, whole)) return processLine.call(splitter, whole, isFinal, next)
    onRepair()
    const header = resultOf(callback => processLine.call(splitter, Buffer.alloc(0), true, callback))
    const text = header.error ? header : resultOf(callback => splitter.processLine(whole, isFinal, callback))
    if (text.error) return next(text.error)
    if (isFinal) {
      if (header.chunk) splitter.push(header.chunk)
      next(null, text.chunk, text.flush)
    } else {
      // First: the caller takes what follows the line as the beginning of the body.
      next(null, header.chunk, header.flush)
      if (text.chunk) splitter.push(text.chunk)
    }
  }
}

interface LineResult {
  readonly error: Error | null
  readonly chunk: SplitterChunk | false
  readonly flush: boolean
}

/** What the splitter makes of a line: it calls back at once. */
export function resultOf(run: (callback: LineCallback) => void): LineResult {
  let result: LineResult = { error: null, chunk: false, flush: false }
  run((error = null, chunk = false, flush = false) => {
    result = { error, chunk, flush }
  })
  return result
}

const [tab, lf, cr, space, dash] = [0x09, 0x0a, 0x0d, 0x20, 0x2d]

/**
 * Whether a line is a delimiter of `boundary`, from its `--` at `start` on: white space may follow, which gateways add and
 * readers ignore (`transport-padding`, RFC 2046 §5.1.1), and which the value of the parameter may have at its end.
 */
export function delimiterKind(line: Buffer, start: number, boundary: Buffer): DelimiterKind | false {
  const kind = kindFor(line, start + 2, boundary)
  const end = trimmedLength(boundary)
  return kind || end === boundary.length || end === 0 ? kind : kindFor(line, start + 2, boundary.subarray(0, end))
}

function kindFor(line: Buffer, from: number, boundary: Buffer): DelimiterKind | false {
  let at = from + boundary.length
  if (line.length < at || boundary.compare(line, from, at) !== 0) return false
  const isClosing = line[at] === dash && line[at + 1] === dash
  if (isClosing) at += 2
  while (isWhiteSpace(line[at])) at++
  return at < line.length ? false : isClosing ? 2 : 1
}

function isWhiteSpace(byte: number | undefined): boolean {
  return byte === space || byte === tab || byte === cr || byte === lf
}

function trimmedLength(bytes: Buffer): number {
  let length = bytes.length
  while (length > 0 && isWhiteSpace(bytes[length - 1])) length--
  return length
}

const field = /^[!-9;-~]+[ \t]*:/
const maxFieldName = 200

/**
 * Whether a line that is neither a field nor the rest of one is the first of the text, because the header has ended with a
 * line of white space instead of an empty one, or because the part has none at all. A line of white space within a field is
 * valid, if obsolete (RFC 5322 §4.2).
 */
function isFirstLineOfText(node: SplitterNode, line: Buffer): boolean {
  const last = node._headersLines.at(-1)
  const mayBeText = last ? trimmedLength(last) === 0 : node.parentNode && !node.parentNode.rfc822
  if (!mayBeText || line.length === 0 || isWhiteSpace(line[0])) return false
  return !field.test(line.toString('latin1', 0, maxFieldName))
}

/** Multiparts that one delimiter ends, at most: each line that begins with `--` is compared with that many. */
const maxUnclosed = 16

/**
 * A delimiter of an outer multipart also ends those within it that were not closed (RFC 2046 §5.1.2). The splitter itself
 * knows the boundaries of the part and of the multipart around it.
 */
function endOfUnclosed(splitter: Splitter, line: Buffer, start: number): 3 | 4 | false {
  let part = splitter.node._parentBoundaryOwner
  for (let levels = 0; part && levels < maxUnclosed; levels++, part = part._parentBoundaryOwner) {
    const kind = part._parentBoundary && splitter.compareBoundary(line, start, part._parentBoundary)
    if (!kind) continue
    splitter.node = part
    return kind === 1 ? 3 : 4
  }
  return false
}

/** The line end before a delimiter may come with it. */
function lineEndLength(line: Buffer): number {
  if (line[0] === cr && line[1] === lf) return 2
  return line[0] === cr || line[0] === lf ? 1 : 0
}

const uuencodings: ReadonlySet<string | false> = new Set(['x-uuencode', 'uuencode', 'x-uue', 'uue'])

/** Repairs what the header of a part says once it is parsed, and decodes what the parser has no decoder for. */
function repairNode(node: SplitterNode, onRepair: () => void): void {
  const { parseHeaders, getDecoder } = node
  node.parseHeaders = () => {
    if (node.headers) return
    parseHeaders.call(node)
    if (repairHeader(node, fieldsOf(node)) || uuencodings.has(node.encoding)) onRepair()
  }
  node.getDecoder = () => {
    if (uuencodings.has(node.encoding)) return new UuDecoder()
    const decoder = getDecoder.call(node)
    return node.encoding === 'base64' ? decodeNatively(decoder as Base64Decoder) : decoder
  }
}

function fieldsOf({ headers }: SplitterNode): readonly RawField[] {
  return headers ? headers.getList() : []
}
