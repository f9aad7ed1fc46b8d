/** RFC 1035 §3.3: the length of a string is one octet. */
const maxStringBytes = 255

/**
 * A text in zone file format (RFC 1035 §5.1): quoted strings of at most 255 octets, separated by spaces; quotes,
 * backslashes and all that is not printable ASCII are escaped.
 */
export function quoteText(text: string): string {
  const bytes = Buffer.from(text)
  const strings: string[] = []
  for (let start = 0; start === 0 || start < bytes.length; start += maxStringBytes)
    strings.push(`"${[...bytes.subarray(start, start + maxStringBytes)].map(quoteByte).join('')}"`)
  return strings.join(' ')
}

function quoteByte(byte: number): string {
  const character = String.fromCharCode(byte)
  if (character === '"' || character === '\\') return `\\${character}`
  return byte >= 0x20 && byte < 0x7f ? character : `\\${String(byte).padStart(3, '0')}`
}

/** A string in quotes, or one without, which ends at a space. */
const stringForm = /"((?:[^"\\]|\\[\s\S])*)"|((?:[^\s"\\]|\\[\s\S])+)/g
const escapeForm = /\\(\d{3})|\\([\s\S])|([^\\]+)/g

/**
 * The text without quotes and escapes, from zone file format. What does not begin with a quote is returned unchanged: not
 * every provider quotes.
 */
export function unquoteText(content: string): string {
  if (!content.trimStart().startsWith('"')) return content
  const parts = [...content.matchAll(stringForm)].map(([, quoted, bare]) => readEscapes(quoted ?? bare ?? ''))
  return Buffer.concat(parts).toString()
}

function readEscapes(text: string): Buffer {
  const parts = [...text.matchAll(escapeForm)].map(([, decimal, character, plain]) =>
    decimal === undefined ? Buffer.from(character ?? plain ?? '') : Buffer.from([Number(decimal) & 0xff]),
  )
  return Buffer.concat(parts)
}
