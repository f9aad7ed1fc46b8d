import { type RawField, readFields, unfold } from '../header.ts'
import type { ByteRange } from '../message-source.ts'

/** A part's header, a piece of its body, or (`data`) what is between parts, as the parser gives them (mailsplit). */
export type SplitChunk = SplitHeader | { readonly type: 'body' | 'data'; readonly value: Buffer }

export interface SplitHeader {
  readonly type: 'node'
  readonly parentNode: SplitHeader | false
  /** The transfer encoding, lower case. */
  readonly encoding?: string | false
  readonly _headerlen: number
  /** Its bytes, with the empty line at the end. */
  getHeaders(): Buffer
}

/** A shorter body costs a scanner less inside the message than by itself. */
const minBodyBytes = 32 * 1024
/** Bodies at most; those after them stay in the message. */
const maxBodies = 16

/**
 * Finds the bodies of large attachments in base64 of which every reader says that they are just that: what a header says of
 * them and of the multiparts around them is plain and said once, and each stands between an empty line and a delimiter.
 * Whether the bodies are valid base64 is for their decoder to say ({@link CanonicalBase64Decoder}).
 */
export class Base64BodyFinder {
  private position = 0
  private part: { readonly header: SplitHeader; readonly start: number; end: number } | undefined
  private readonly found: ByteRange[] = []
  private readonly multiparts = new WeakMap<SplitHeader, boolean>()
  private readonly minBytes: number

  constructor(minBytes = minBodyBytes) {
    this.minBytes = minBytes
  }

  /** Is called with each chunk of the message, in order. */
  follow(chunk: SplitChunk): void {
    const length = chunk.type === 'node' ? chunk._headerlen : chunk.value.length
    if (chunk.type === 'body') {
      if (this.part) this.part.end += length
    } else {
      if (this.part && chunk.type === 'data' && isDelimiter(chunk.value)) this.endPart(this.part)
      const start = this.position + length
      this.part =
        chunk.type === 'node' && chunk.encoding === 'base64' ? { header: chunk, start, end: start } : undefined
    }
    this.position += length
  }

  /** The bodies of a message of this size, in order; none if it has bytes that no chunk had. */
  bodiesOf(messageBytes: number): readonly ByteRange[] {
    return this.position === messageBytes ? this.found : []
  }

  private endPart({ header, start, end }: { header: SplitHeader; start: number; end: number }): void {
    if (end - start < this.minBytes || this.found.length === maxBodies) return
    if (isFile(header) && this.isInMultipart(header)) this.found.push({ start, end })
  }

  /** Is everything around the part a multipart that every reader splits in the same way? */
  private isInMultipart({ parentNode: parent }: SplitHeader): boolean {
    if (!parent) return false
    let isPlain = this.multiparts.get(parent)
    if (isPlain === undefined) {
      isPlain = isMultipart(parent) && (!parent.parentNode || this.isInMultipart(parent))
      this.multiparts.set(parent, isPlain)
    }
    return isPlain
  }
}

function isDelimiter(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === '\r\n--'
}

/** Neither text nor a message, which scanners read as mail, nor of a type with a parameter `boundary`. */
function isFile(header: SplitHeader): boolean {
  const plain = plainHeaderOf(header)
  return (
    plain?.encoding === 'base64' &&
    !/^(?:text|message|multipart)\//.test(plain.mediaType) &&
    !plain.parameters.has('boundary')
  )
}

function isMultipart(header: SplitHeader): boolean {
  const plain = plainHeaderOf(header)
  if (!plain?.mediaType.startsWith('multipart/')) return false
  const boundary = plain.parameters.get('boundary') ?? ''
  return /^[\w'()+,./:=?-]{1,70}$/.test(boundary) && /^(?:7bit|8bit|binary)$/.test(plain.encoding)
}

/** What a header says of its part, in lower case except for the values of parameters. */
interface PlainHeader {
  readonly mediaType: string
  readonly parameters: ReadonlyMap<string, string>
  /** The transfer encoding; `7bit` where it says nothing. */
  readonly encoding: string
}

/** Null: readers may take it in different ways, or it is unusual. */
function plainHeaderOf(header: SplitHeader): PlainHeader | null {
  const fields = plainFields(header)
  if (!fields) return null
  const [type, ...types] = fields.filter(field => field.key === 'content-type')
  const [encoding, ...encodings] = fields.filter(field => field.key === 'content-transfer-encoding')
  if (!type || types.length > 0 || encodings.length > 0 || encoding?.line.includes('\n')) return null
  const plainType = plainTypeOf(unfold(type).value)
  return plainType && { ...plainType, encoding: encoding ? unfold(encoding).value.toLowerCase() : '7bit' }
}

const maxFields = 1000
const fieldLine = /^[!-9;-~]+:[^\r\n\0]*$/
const continuationLine = /^[ \t]+[^\s\0][^\r\n\0]*$/

/** The fields of a header of nothing else than fields, with CRLF. */
function plainFields(header: SplitHeader): readonly RawField[] | null {
  const bytes = header.getHeaders()
  const lines = bytes.toString('latin1').split('\r\n')
  const [last, empty] = [lines.pop(), lines.pop()]
  if (bytes.length !== header._headerlen || last !== '' || empty !== '') return null
  if (!lines.every((line, i) => fieldLine.test(line) || (i > 0 && continuationLine.test(line)))) return null
  const fields = readFields(bytes, maxFields)
  return fields.length < maxFields ? fields : null
}

const token = "[\\w!#$%&'*+.^`{|}~-]+"
const mediaTypeForm = new RegExp(`^${token}/${token}`)
const parameterForm = new RegExp(`\\s*;\\s*(${token})=(?:"([^"\\\\]*)"|(${token}))`, 'y')

/** A Content-Type that keeps to RFC 2045 §5.1 and names no parameter twice. */
function plainTypeOf(value: string): Omit<PlainHeader, 'encoding'> | null {
  const [mediaType] = mediaTypeForm.exec(value) ?? []
  if (mediaType === undefined) return null
  const parameters = new Map<string, string>()
  for (let at = mediaType.length; at < value.length && value.slice(at) !== ';'; at = parameterForm.lastIndex) {
    parameterForm.lastIndex = at
    const [, name = '', quoted, bare = ''] = parameterForm.exec(value) ?? []
    const key = name.toLowerCase()
    // `boundary*` and `boundary*0` give a parameter in other ways (RFC 2231).
    if (key === '' || parameters.has(key) || key.startsWith('boundary*')) return null
    parameters.set(key, quoted ?? bare)
  }
  return { mediaType: mediaType.toLowerCase(), parameters }
}
