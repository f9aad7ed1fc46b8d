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
    // Only the lines that the last piece ended in are copied together with this one.
    const begun = this.lineBytes === 0 ? piece.length : this.toLineEnd()
    const first = this.rest.length > 0 ? Buffer.concat([this.rest, piece.subarray(0, begun)]) : piece.subarray(0, begun)
    if (this.lineBytes === 0) this.lineBytes = lineBytesOf(first)
    const bytes = first.length + Math.max(piece.length - begun, 0)
    const lines = this.lineBytes === 0 ? 0 : Math.max(Math.floor(bytes / this.lineBytes) - 1, 0)
    const end = lines * this.lineBytes
    const following = piece.subarray(begun)
    const fromFirst = Math.min(end, first.length)
    this.rest = Buffer.concat([first.subarray(fromFirst), following.subarray(end - fromFirst)])
    if (lines === 0) return Buffer.alloc(0)
    const decoded = Buffer.allocUnsafeSlow(decodedBytes(end, this.lineBytes))
    decodeLines(first.subarray(0, fromFirst), this.lineBytes, decoded)
    decodeLines(
      following.subarray(0, end - fromFirst),
      this.lineBytes,
      decoded.subarray(decodedBytes(fromFirst, this.lineBytes)),
    )
    return decoded
  }

  /** How many bytes of the next piece make whole lines of what is left of the last one. */
  private toLineEnd(): number {
    return Math.ceil(this.rest.length / this.lineBytes) * this.lineBytes - this.rest.length
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
    const decoded = Buffer.allocUnsafeSlow(Math.ceil(encoded.length / 4) * 3)
    return decoded.subarray(0, decodeStrictly(encoded, decoded))
  }
}

/** 0: the first line is not complete. */
function lineBytesOf(bytes: Buffer): number {
  const width = bytes.subarray(0, maxLineBytes + 2).indexOf('\r\n')
  if (width < 0 && bytes.length < maxLineBytes + 2) return 0
  if (width <= 0 || width % 4 !== 0) throw new NotCanonicalError()
  return width + 2
}

/** What whole lines decode to. */
function decodedBytes(bytes: number, lineBytes: number): number {
  return ((bytes / lineBytes) * (lineBytes - 2) * 3) / 4
}

/** Decoded at a time: what is still in the processor's cache when it is read again. */
const stepBytes = 64 * 1024

/** Decodes whole lines to the beginning of `output`. */
function decodeLines(bytes: Buffer, lineBytes: number, output: Buffer): void {
  for (let at = lineBytes - 2; at < bytes.length; at += lineBytes)
    if (bytes[at] !== cr || bytes[at + 1] !== lf) throw new NotCanonicalError()
  const step = Math.floor(stepBytes / lineBytes) * lineBytes
  for (let at = 0, to = 0; at < bytes.length; at += step) {
    const end = Math.min(at + step, bytes.length)
    const expected = decodedBytes(end - at, lineBytes)
    // Decoding passes over white space and stops at padding: then there are fewer bytes.
    const written = decodeStrictly(bytes.toString('latin1', at, end), output.subarray(to, to + expected))
    if (written !== expected) throw new NotCanonicalError()
    to += expected
  }
}

/** Returns how many bytes of the output were written. */
function decodeStrictly(text: string, output: Buffer): number {
  try {
    return output.setFromBase64(text, { lastChunkHandling: 'strict' }).written
  } catch {
    throw new NotCanonicalError()
  }
}
