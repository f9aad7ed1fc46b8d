import MimeNode from 'nodemailer/lib/mime-node'

/** What nodemailer does not declare of a part. */
interface PartInternals {
  /** Q or B where it was set; otherwise empty. */
  readonly textEncoding: string
  _normalizeHeaderKey(name: unknown): string
  /** Quoted-printable for more ASCII letters than other characters, base64 otherwise. */
  _getTextEncoding(text: unknown): string
}

/** Clients may give fields of any name. */
const maxRemembered = 512
// As nodemailer counts them: controls but tab and line ends, and all past ASCII.
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
const otherCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u0080-\uffff]/
const letter = /[a-z]/i

/** Makes nodemailer compose the same messages in less time. */
export function speedUpComposing(): void {
  const part = MimeNode.prototype as unknown as PartInternals
  rememberFieldNames(part)
  skipCounting(part)
}

/**
 * It writes the names of header fields in their usual case (`MIME-Version`) with several regular expressions, some sixty times for
 * each message: a quarter of the time in which one is composed. What one is written as follows from the name alone.
 */
function rememberFieldNames(part: PartInternals): void {
  const normalize = part._normalizeHeaderKey
  const remembered = new Map<unknown, string>()
  part._normalizeHeaderKey = function (name) {
    const known = remembered.get(name)
    if (known !== undefined) return known
    const normalized = normalize.call(this, name)
    if (typeof name === 'string' && remembered.size < maxRemembered) remembered.set(name, normalized)
    return normalized
  }
}

/** It counts the letters and the other characters of a text one by one, also where there are no others. */
function skipCounting(part: PartInternals): void {
  const count = part._getTextEncoding
  part._getTextEncoding = function (text) {
    if (this.textEncoding !== '' || typeof text !== 'string' || otherCharacter.test(text)) return count.call(this, text)
    return letter.test(text) ? 'Q' : 'B'
  }
}
