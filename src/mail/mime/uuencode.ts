import { Transform, type TransformCallback } from 'node:stream'

const lf = 0x0a
/** A line has 62 characters, of which 61 count; a longer one is not a line of uuencode. */
const maxLineBytes = 1024

/**
 * Decodes the body of a part with the transfer encoding `x-uuencode` (POSIX): what is between `begin <mode> <name>` and
 * `end`. A body that does not begin so stays as it is.
 */
export class UuDecoder extends Transform {
  private phase: 'before' | 'within' | 'after' | 'undecoded' = 'before'
  /** The beginning of a line that a later chunk ends. */
  private pending: Buffer = Buffer.alloc(0)

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const bytes = Buffer.concat([this.pending, chunk])
    const decoded: Buffer[] = []
    let at = 0
    for (let end = bytes.indexOf(lf); end >= 0 && this.phase !== 'undecoded'; end = bytes.indexOf(lf, at)) {
      decoded.push(this.decodeLine(bytes.subarray(at, end + 1)))
      at = end + 1
    }
    const rest = bytes.subarray(at)
    const isLine = this.phase !== 'undecoded' && rest.length <= maxLineBytes
    this.pending = isLine ? Buffer.from(rest) : Buffer.alloc(0)
    if (!isLine) decoded.push(this.decodeLine(rest))
    done(null, Buffer.concat(decoded))
  }

  override _flush(done: TransformCallback): void {
    done(null, this.decodeLine(this.pending))
  }

  private decodeLine(line: Buffer): Buffer {
    const text = line.toString('latin1', 0, maxLineBytes).trimEnd()
    if (this.phase === 'before' && text !== '') this.phase = /^begin [0-7]{3,4}\b/.test(text) ? 'within' : 'undecoded'
    else if (this.phase === 'within' && text === 'end') this.phase = 'after'
    else if (this.phase === 'within') return decodeUuLine(line)
    return this.phase === 'undecoded' ? line : Buffer.alloc(0)
  }
}

/** The first character is the number of bytes; each four of the others are three bytes. Missing ones are spaces. */
function decodeUuLine(line: Buffer): Buffer {
  const sextet = (at: number) => ((line[at] ?? 0x20) - 0x20) & 0x3f
  const decoded = Buffer.alloc(sextet(0))
  for (let to = 0, at = 1; to < decoded.length; to += 3, at += 4) {
    const bits = (sextet(at) << 18) | (sextet(at + 1) << 12) | (sextet(at + 2) << 6) | sextet(at + 3)
    for (let i = 0; i < 3; i++) decoded[to + i] = bits >> (16 - 8 * i)
  }
  return decoded
}
