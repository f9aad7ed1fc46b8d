/** A piece of a multipart body: a part, or what is around parts, which includes the delimiters. */
export interface MultipartPiece {
  readonly kind: 'part' | 'other'
  readonly bytes: Buffer
}

const crlf = '\r\n'

/**
 * The parts of a multipart body and what is around them, in order; together they are the body. RFC 2046 §5.1.1.
 * @param body with CRLF line ends
 */
export function splitMultipart(body: Buffer, boundary: string): readonly MultipartPiece[] {
  const pieces: MultipartPiece[] = []
  const add = (kind: MultipartPiece['kind'], from: number, to: number) => {
    if (to > from) pieces.push({ kind, bytes: body.subarray(from, to) })
  }
  let isInPart = false
  let start = 0
  for (const { from, to, isClosing } of delimitersIn(body, boundary)) {
    // The CRLF before a delimiter belongs to it; of a part without a body it ends the header.
    add(isInPart ? 'part' : 'other', start, Math.max(start, from))
    add('other', Math.max(start, from), to)
    start = to
    isInPart = !isClosing
    if (isClosing) break
  }
  add(isInPart ? 'part' : 'other', start, body.length)
  return pieces
}

interface Delimiter {
  /** With the CRLF before it. */
  readonly from: number
  /** After the CRLF that ends its line. */
  readonly to: number
  readonly isClosing: boolean
}

function* delimitersIn(body: Buffer, boundary: string): Generator<Delimiter> {
  const mark = Buffer.from(`--${boundary.trimEnd()}`, 'latin1')
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) {
    const isAtLineStart = at === 0 || body.toString('latin1', at - 2, at) === crlf
    if (!isAtLineStart) continue
    const end = body.indexOf(crlf, at)
    const rest = body.toString('latin1', at + mark.length, end < 0 ? body.length : end)
    if (!/^(?:--)?[ \t]*$/.test(rest)) continue
    yield {
      from: at === 0 ? 0 : at - 2,
      to: end < 0 ? body.length : end + 2,
      isClosing: rest.startsWith('--'),
    }
  }
}
