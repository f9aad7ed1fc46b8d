import type { Transform } from 'node:stream'

/** The decoder of the parser (libbase64, lib/libbase64.js). */
export interface Base64Decoder extends Transform {
  /** What is not decoded yet, because it is not four characters. */
  _curLine: string
}

/**
 * Makes this decoder decode a body natively as long as it is valid base64 in lines (RFC 2045 §6.8). From the first piece on
 * that is not, it works as it does by itself: it passes over other characters, and reads on after padding.
 */
export function decodeNatively(decoder: Base64Decoder): Base64Decoder {
  const { _transform } = decoder
  let isValid = true
  decoder._transform = (chunk: Buffer, encoding, done) => {
    const output = Buffer.allocUnsafeSlow(decodedLength(decoder._curLine.length + chunk.length))
    const length = isValid ? decodeInto(output, decoder, chunk) : null
    isValid = length !== null
    if (length === null) return _transform.call(decoder, chunk, encoding, done)
    if (length > 0) decoder.push(output.subarray(0, length))
    done()
  }
  return decoder
}

const stepBytes = 64 * 1024
/** What the rest of the piece before may add: three characters. */
const decodedStep = Buffer.allocUnsafeSlow(decodedLength(stepBytes + 3))

/**
 * Decodes a piece of a body without the decoder's stream, as long as it is valid base64 in lines. The decoder goes on from
 * there.
 * @param take is called with bytes that are valid only during the call
 * @returns how many bytes of the piece were decoded; what follows them is for the decoder
 */
export function decodeSteps(decoder: Base64Decoder, piece: Buffer, take: (decoded: Buffer) => void): number {
  for (let at = 0; at < piece.length; at += stepBytes) {
    const length = decodeInto(decodedStep, decoder, piece.subarray(at, at + stepBytes))
    if (length === null) return at
    if (length > 0) take(decodedStep.subarray(0, length))
  }
  return piece.length
}

function decodedLength(characters: number): number {
  return Math.ceil(characters / 4) * 3
}

/** Returns the number of bytes, and leaves the characters at the end that are not four to the decoder; null: it is no base64. */
function decodeInto(output: Buffer, decoder: Base64Decoder, piece: Buffer): number | null {
  const text = decoder._curLine + piece.toString('latin1')
  try {
    const { read, written } = output.setFromBase64(text, { lastChunkHandling: 'stop-before-partial' })
    decoder._curLine = text.slice(read).replace(/\s+/g, '')
    return written
  } catch {
    return null
  }
}
