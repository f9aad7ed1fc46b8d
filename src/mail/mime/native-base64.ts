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
    const decoded = isValid ? decodeValid(decoder._curLine + chunk.toString('ascii')) : null
    isValid = decoded !== null
    if (!decoded) return _transform.call(decoder, chunk, encoding, done)
    decoder._curLine = decoded.rest
    if (decoded.bytes.length > 0) decoder.push(decoded.bytes)
    done()
  }
  return decoder
}

/** The bytes, and the characters at the end that are not four; null: it is no base64. */
function decodeValid(text: string): { readonly bytes: Buffer; readonly rest: string } | null {
  const bytes = Buffer.allocUnsafeSlow(Math.ceil(text.length / 4) * 3)
  try {
    const { read, written } = bytes.setFromBase64(text, { lastChunkHandling: 'stop-before-partial' })
    return { bytes: bytes.subarray(0, written), rest: text.slice(read).replace(/\s+/g, '') }
  } catch {
    return null
  }
}
