import type { TextOnlyMessage, UndecodedText } from './text-only.ts'

/** The texts as a reader gets them, with LF line ends. */
export interface DecodedTexts {
  readonly text: string | null
  readonly html: string | null
}

const charsetParameter = /charset\s*=\s*"?([\w.+-]+)/gi
const flowed = /format\s*=\s*"?flowed/i
const unicode = /^(?:us-ascii|ascii|utf-?8)$/i
/** What these have below 0x80 is ASCII. */
const asciiSuperset = /^(?:iso-8859-\d{1,2}|windows-125\d)$/i

/**
 * The texts of a message that is one text, or a multipart of one, or of a plain and an HTML text that are alternatives.
 * Undefined: the parser has to read them, because there are more of them, or because of how they are encoded.
 */
export function textsOf({ multipart, texts }: TextOnlyMessage): DecodedTexts | undefined {
  const plain = texts.filter(text => text.subtype === 'plain')
  const html = texts.filter(text => text.subtype === 'html')
  const isOneOfAKind = plain.length <= 1 && html.length <= 1
  if (!isOneOfAKind || (texts.length > 1 && multipart !== 'alternative')) return undefined
  const [text, htmlText] = [contentOf(plain[0]), contentOf(html[0])]
  return text === undefined || htmlText === undefined ? undefined : { text, html: htmlText }
}

/** null: there is no such text; undefined: the parser has to read it. */
function contentOf(part: UndecodedText | undefined): string | null | undefined {
  if (!part) return null
  const { parameters, encoding, body } = part
  const [[, charset = 'utf-8'] = [], ...more] = parameters.matchAll(charsetParameter)
  const isIdentity = encoding === '7bit' || encoding === '8bit'
  const isKnown = unicode.test(charset) || (isIdentity && asciiSuperset.test(charset))
  if (more.length > 0 || !isKnown || flowed.test(parameters)) return undefined
  const raw = body.toString('latin1')
  const content = isIdentity ? raw : encoding === 'base64' ? fromBase64(raw) : fromQuotedPrintable(raw)
  return content?.replaceAll('\r\n', '\n')
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Undefined: it is not base64 alone. */
function fromBase64(encoded: string): string | undefined {
  const digits = encoded.replaceAll('\r\n', '')
  return base64.test(digits) ? Buffer.from(digits, 'base64').toString() : undefined
}

const malformedQuoting = /=(?!\r\n|[0-9A-F]{2})|[ \t](?:\r\n|$)/
const quotedBytes = /(?:=[0-9A-F]{2})+/g

/** Undefined: it holds what RFC 2045 §6.7 does not allow, or white space at the end of a line, which may have been added. */
function fromQuotedPrintable(encoded: string): string | undefined {
  if (malformedQuoting.test(encoded)) return undefined
  const joined = encoded.replaceAll('=\r\n', '')
  return joined.replace(quotedBytes, bytes => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString())
}
