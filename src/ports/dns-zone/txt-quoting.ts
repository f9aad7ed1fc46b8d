/** RFC 1035 §3.3: a string is one octet of length and as many octets as that can say. */
const maxStringBytes = 255

/**
 * The text as a zone file has it (RFC 1035 §5.1): strings of at most 255 octets in quotes, one after the other; quotes,
 * backslashes and all that is not printable ASCII escaped.
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
 * The text in one piece, from the form of a zone file. What does not begin with a quote is taken as it is: not every
 * provider quotes.
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
