const cr = 0x0d
const lf = 0x0a

/** Makes every line end CRLF, chunk by chunk. A chunk that has CRLF line ends already is returned without a copy. */
export interface CrlfNormalizer {
  write(chunk: Buffer): Buffer
  /** The rest of the text: a line end, if the last chunk ended with a CR. */
  end(): Buffer
}

/** Turns bare LF and bare CR (RFC 5322 §2.3 has neither) into CRLF. */
export function crlfNormalizer(): CrlfNormalizer {
  let pendingCr = false
  return {
    write(chunk) {
      const input = pendingCr ? Buffer.concat([Buffer.of(cr), chunk]) : chunk
      pendingCr = input[input.length - 1] === cr
      const lines = pendingCr ? input.subarray(0, -1) : input
      const bare = countBare(lines)
      return bare === 0 ? lines : rewrite(lines, bare)
    },
    end() {
      return pendingCr ? Buffer.of(cr, lf) : Buffer.alloc(0)
    },
  }
}

/** Is there a CR or an LF that is not part of a CRLF? */
export function hasBareLineEnd(bytes: Buffer): boolean {
  return countBare(bytes) > 0
}

/** In lines that are shorter on average it costs less to look at each byte than to search for the line ends. */
const minSearchedLine = 32

/** CRs and LFs that are not a CRLF. */
function countBare(bytes: Buffer): number {
  let at = 0
  for (let lines = 0; ; lines++) {
    const atCr = bytes.indexOf(cr, at)
    const atLf = bytes.indexOf(lf, at)
    if (atCr < 0 && atLf < 0) return 0
    if (atCr < 0 || atLf !== atCr + 1 || atLf < lines * minSearchedLine) return countBareFrom(bytes, at)
    at = atLf + 1
  }
}

function countBareFrom(bytes: Buffer, start: number): number {
  let bare = 0
  for (let i = start; i < bytes.length; i++) {
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

/** The bytes with every line end as CRLF. */
export function withCrlf(bytes: Buffer): Buffer {
  const normalizer = crlfNormalizer()
  const lines = normalizer.write(bytes)
  const end = normalizer.end()
  return end.length === 0 ? lines : Buffer.concat([lines, end])
}
