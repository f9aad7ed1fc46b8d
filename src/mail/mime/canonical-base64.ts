/** RFC 2045 §6.8. */
const maxLineBytes = 76
const [cr, lf] = [0x0d, 0x0a]
const characters = /^[A-Za-z0-9+/]+={0,2}$/
/** Empty lines between the encoded bytes and the delimiter that follows them. */
const lineEnds = /(?:\r\n){0,2}$/

/** A body is not base64 that every reader decodes to the same bytes. */
export class NotCanonicalError extends Error {
  constructor() {
    super('the body is not canonical base64')
  }
}

/**
 * Decodes base64 in the form that leaves a reader no choice: lines of the same length, a multiple of four and at most 76, each
 * with CRLF, only the last shorter; no other character, and padding only at the end. The body is given in pieces of any size.
 */
export class CanonicalBase64Decoder {
  /** Of each line, with CRLF; 0: it is not known yet. */
  private lineBytes = 0
  /** At least the last line so far, which may be the one with padding. */
  private rest: Buffer = Buffer.alloc(0)

  /** @throws NotCanonicalError */
  decode(piece: Buffer): Buffer {
    const bytes = this.rest.length > 0 ? Buffer.concat([this.rest, piece]) : piece
    if (this.lineBytes === 0) this.lineBytes = lineBytesOf(bytes)
    const lines = this.lineBytes === 0 ? 0 : Math.max(Math.floor(bytes.length / this.lineBytes) - 1, 0)
    const end = lines * this.lineBytes
    this.rest = Buffer.from(bytes.subarray(end))
    return lines === 0 ? Buffer.alloc(0) : decodeLines(bytes.subarray(0, end), lines, this.lineBytes)
  }

  /** The last bytes. @throws NotCanonicalError */
  end(): Buffer {
    const text = this.rest.toString('latin1').replace(lineEnds, '')
    const lines = text.split('\r\n')
    const last = lines.pop() ?? ''
    const width = this.lineBytes === 0 ? maxLineBytes : this.lineBytes - 2
    const encoded = lines.join('') + last
    const isCanonical = last !== '' && last.length <= width && lines.every(line => line.length === width)
    if (!isCanonical || !characters.test(encoded)) throw new NotCanonicalError()
    return decodeStrictly(encoded)
  }
}

/** 0: the first line is not complete. */
function lineBytesOf(bytes: Buffer): number {
  const width = bytes.subarray(0, maxLineBytes + 2).indexOf('\r\n')
  if (width < 0 && bytes.length < maxLineBytes + 2) return 0
  if (width <= 0 || width % 4 !== 0) throw new NotCanonicalError()
  return width + 2
}

function decodeLines(bytes: Buffer, lines: number, lineBytes: number): Buffer {
  for (let at = lineBytes - 2; at < bytes.length; at += lineBytes)
    if (bytes[at] !== cr || bytes[at + 1] !== lf) throw new NotCanonicalError()
  // Decoding passes over white space and stops at padding: then there are fewer bytes.
  const decoded = decodeStrictly(bytes.toString('latin1'))
  if (decoded.length !== (lines * (lineBytes - 2) * 3) / 4) throw new NotCanonicalError()
  return decoded
}

function decodeStrictly(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Math.ceil(text.length / 4) * 3)
  try {
    const { written } = bytes.setFromBase64(text, { lastChunkHandling: 'strict' })
    return bytes.subarray(0, written)
  } catch {
    throw new NotCanonicalError()
  }
}
