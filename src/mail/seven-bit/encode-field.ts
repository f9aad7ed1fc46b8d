import { isUtf8 } from 'node:buffer'
import libmime from 'libmime'
import { canonicalDomain } from '../address.ts'
import { type RawField, unfold } from '../header.ts'

/** Fields with addresses, in which only display names may be encoded words (RFC 2047 §5). */
const addressFields = new Set([
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'resent-from',
  'resent-sender',
  'resent-to',
  'resent-cc',
])
/** Fields with parameters, which have an encoding of their own (RFC 2231). */
const parameterFields = new Set(['content-type', 'content-disposition'])
const maxWordLength = 52
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g

/** The field in ASCII, folded, without its line end; one that is ASCII stays as it is. Bytes that are not UTF-8 are read as Latin-1. */
export function encodeField(field: RawField): string {
  if (/^[\t\r\n -~]*$/.test(field.line)) return field.line
  const name = field.line.slice(0, field.line.indexOf(':')).trim()
  const text = textOf(field).replace(controls, ' ')
  return libmime.foldLines(`${name}: ${encodeValue(field.key, text)}`, 76)
}

/** The unfolded value. */
function textOf(field: RawField): string {
  const bytes = Buffer.from(field.line, 'latin1')
  if (isUtf8(bytes)) return unfold(field).value
  return field.line
    .slice(field.line.indexOf(':') + 1)
    .replace(/\r?\n(?=[ \t])/g, '')
    .trim()
}

function encodeValue(key: string, text: string): string {
  if (addressFields.has(key)) return encodeAddresses(text)
  if (parameterFields.has(key)) return libmime.buildHeaderValue(libmime.parseHeaderValue(text))
  return libmime.encodeWords(text, 'Q', maxWordLength)
}

// A quoted string, what is between angle brackets, or words.
const addressToken = /"(?:[^"\\]|\\.)*"|<[^<>]*>|[^"<>,;:]+|[<>,;:"]/gu

/** Display names become encoded words, and domains A-labels. */
function encodeAddresses(text: string): string {
  return text.replace(addressToken, token => {
    if (/^[ -~\t]*$/.test(token)) return token
    if (token.startsWith('"'))
      return libmime.encodeWord(token.slice(1, -1).replace(/\\(.)/gu, '$1'), 'Q', maxWordLength)
    if (token.startsWith('<')) return `<${asciiAddress(token.slice(1, -1))}>`
    const [, before = '', words = '', after = ''] = /^(\s*)(.*?)(\s*)$/su.exec(token) ?? []
    const encoded = words.includes('@') ? asciiAddress(words) : libmime.encodeWord(words, 'Q', maxWordLength)
    return before + encoded + after
  })
}

/** With the domain as an A-label. A local part beyond ASCII (RFC 6531) stays, and no message with one is sent. */
function asciiAddress(address: string): string {
  const at = address.lastIndexOf('@')
  const domain = canonicalDomain(address.slice(at + 1))
  return at > 0 && domain !== undefined ? `${address.slice(0, at)}@${domain}` : address
}
