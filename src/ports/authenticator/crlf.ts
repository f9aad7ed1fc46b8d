const cr = 0x0d
const lf = 0x0a

/** Makes every line end CRLF, chunk by chunk. What is in order already is passed on without a copy. */
export interface CrlfNormalizer {
  write(chunk: Buffer): Buffer
  /** What was held back: a CR at the very end. */
  end(): Buffer
}

/** Turns bare LF and bare CR (RFC 5322 §2.3 has neither) into CRLF. */
export function crlfNormalizer(): CrlfNormalizer {
  let heldCr = false
  return {
    write(chunk) {
      const input = heldCr ? Buffer.concat([Buffer.of(cr), chunk]) : chunk
      heldCr = input[input.length - 1] === cr
      const whole = heldCr ? input.subarray(0, -1) : input
      const bare = countBare(whole)
      return bare === 0 ? whole : rewrite(whole, bare)
    },
    end() {
      return heldCr ? Buffer.of(cr, lf) : Buffer.alloc(0)
    },
  }
}

/** The whole of a text with CRLF line ends. */
export function withCrlf(bytes: Buffer): Buffer {
  const normalizer = crlfNormalizer()
  const written = normalizer.write(bytes)
  const rest = normalizer.end()
  return rest.length === 0 ? written : Buffer.concat([written, rest])
}

function countBare(bytes: Buffer): number {
  let bare = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === cr && bytes[i + 1] === lf) i++
    else if (byte === cr || byte === lf) bare++
  }
  return bare
}

function rewrite(bytes: Buffer, bare: number): Buffer {
  const result = Buffer.allocUnsafe(bytes.length + bare)
  let end = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (byte !== cr && byte !== lf) {
      result[end++] = byte
      continue
    }
    if (byte === cr && bytes[i + 1] === lf) i++
    result[end++] = cr
    result[end++] = lf
  }
  return result
}
