import libmime from 'libmime'
import { type RawField, unfold } from '../header.ts'
import { declaredCharset, isBeyondAscii, withUtf8Text } from './eight-bit.ts'

/** What a part's header says of its body (mailsplit, lib/mime-node.js). */
export interface PartFields {
  readonly parentNode: PartFields | false
  readonly rfc822: boolean
  /** How many parts of it have been found. */
  readonly childPartNumbers: number
  filename: string | false
  readonly _parsedContentType: { readonly params: Readonly<Record<string, string>> } | false
  contentType: string | false
  /** The subtype of a multipart. */
  multipart: string | false
  /** The transfer encoding, lower case. */
  encoding: string | false
  charset: string | false
  disposition: string | false
  _boundary: Buffer | false
}

const token = '[^\\s()<>@,;:\\\\"/[\\]?=]+'
const mediaType = new RegExp(`^\\s*(${token})\\s*/\\s*(${token})(.*)$`, 's')

/**
 * Repairs what a part's header says of its body, where it is malformed in a way that other readers understand. Returns
 * whether other parts, or other bytes, may come of that.
 */
export function repairHeader(header: PartFields, fields: readonly RawField[]): boolean {
  const { contentType, encoding, _boundary: boundary } = header
  repairType(header)
  const { charset } = header
  header.charset = (charset && firstWord(charset)) || false
  header.encoding = (encoding && firstWord(encoding)) || false
  header.filename = nameBeyondAscii(fields) ?? header.filename
  if (isNamedText(header) && !isBody(header))
    header.disposition = header.disposition === 'inline' ? inlineFile : header.disposition || 'attachment'
  const isEncodingKept = header.encoding === (encoding || false)
  return header.contentType !== contentType || !isEncodingKept || header._boundary !== boundary
}

/** The name of a file from bytes beyond ASCII, which the parser takes for Latin-1; undefined: it has none, or no known charset. */
function nameBeyondAscii(fields: readonly RawField[]): string | undefined {
  const parameters = (key: string) => {
    const raw = fields.find(field => field.key === key)
    return raw && isBeyondAscii(raw)
      ? libmime.parseHeaderValue(unfold(withUtf8Text(raw, declaredCharset(fields))).value).params
      : {}
  }
  const name = parameters('content-disposition')['filename'] || parameters('content-type')['name']
  const decoded = name && libmime.decodeWords(name)
  return decoded && !decoded.includes('\ufffd') ? decoded : undefined
}

/** The disposition of a text that is shown inline and is a file: to the parser, `inline` alone means that it is none. */
export const inlineFile = 'inline file'

/**
 * A Content-Type without a valid type, such as `text`, is that of plain text (RFC 2045 §5.2), or of a file where it names
 * one. A parameter may follow the type without a semicolon.
 */
function repairType(header: PartFields): void {
  const [, type, subtype, rest = ''] = mediaType.exec(header.contentType || '') ?? []
  const parameters = { ...(rest.includes('=') && parametersIn(rest)), ...parsedParameters(header) }
  header.charset ||= parameters['charset'] ?? false
  if (parameters['boundary']) header._boundary ||= Buffer.from(parameters['boundary'])
  const isMultipart = type === 'multipart' || (!type && /^multipart\b/.test(header.contentType || ''))
  if (isMultipart) header.contentType = header._boundary ? `multipart/${subtype ?? 'mixed'}` : 'text/plain'
  else if (type) header.contentType = `${type}/${subtype}`
  else header.contentType = header.filename ? 'application/octet-stream' : 'text/plain'
  header.multipart = isMultipart && header._boundary ? (subtype ?? 'mixed') : false
}

function parsedParameters({ _parsedContentType }: PartFields): Readonly<Record<string, string>> {
  return _parsedContentType ? _parsedContentType.params : {}
}

function parametersIn(text: string): Readonly<Record<string, string>> {
  return libmime.parseHeaderValue(`;${text.replace(/^[\s,;]+/, '')}`).params
}

/** `utf-8` of `utf-8 format=flowed`, `'utf-8'` and `"utf-8`; `base64` of `base64;`. */
function firstWord(value: string): string {
  return /[^\s"',;]+/.exec(value)?.[0] ?? ''
}

function isNamedText({ contentType, filename }: PartFields): boolean {
  return filename !== false && (contentType === 'text/plain' || contentType === 'text/html')
}

/** Whether a part is the message's own text, not a file beside it, whatever its name. */
function isBody({ parentNode }: PartFields): boolean {
  if (!parentNode || parentNode.rfc822 || parentNode.multipart === 'alternative') return true
  return parentNode.multipart !== 'mixed' && parentNode.childPartNumbers <= 1
}
