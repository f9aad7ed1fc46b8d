const CR = 0x0d
const LF = 0x0a
const DOT = 0x2e
const lineStartWithDot = Buffer.from('\r\n.')
const carriageReturn = Buffer.from('\r')

/** How much of CRLF.CRLF the last bytes match. */
type DecoderState = 'text' | 'cr' | 'line-start' | 'dot' | 'dot-cr'

/** Receives the decoded bytes: slices of the input, in order. */
export interface DataSink {
  write(bytes: Buffer): void
}

/**
 * Undoes the dot-stuffing of one message and finds its end (RFC 5321 §4.5.2). A line starts after CRLF and nowhere else,
 * and only CRLF.CRLF ends the message: accepting a bare CR or LF as a line end makes SMTP smuggling possible. The dot that
 * starts a longer line is dropped; every other byte is kept.
 */
export class DataDecoder {
  private state: DecoderState = 'line-start'

  /** Decodes `chunk` into `sink`. Returns the index after the final dot's CRLF, or -1 when the message goes on. */
  decode(chunk: Buffer, sink: DataSink): number {
    let start = 0
    let at = 0
    while (at < chunk.length) {
      const byte = chunk[at]
      switch (this.state) {
        case 'text': {
          const found = chunk.indexOf(lineStartWithDot, at)
          this.state = found < 0 ? stateAtEnd(chunk, at) : 'line-start'
          at = found < 0 ? chunk.length : found + 2
          break
        }
        case 'cr':
          if (byte === LF) this.state = 'line-start'
          else if (byte !== CR) this.state = 'text'
          if (this.state !== 'text') at++
          break
        case 'line-start':
          this.state = byte === DOT ? 'dot' : 'text'
          if (byte === DOT) {
            if (at > start) sink.write(chunk.subarray(start, at))
            start = ++at
          }
          break
        case 'dot':
          this.state = byte === CR ? 'dot-cr' : 'text'
          if (byte === CR) at++
          break
        case 'dot-cr':
          if (byte === LF) return at + 1
          // The CR belongs to the content; one from an earlier chunk has to be written separately.
          if (at === 0) sink.write(carriageReturn)
          this.state = 'cr'
          break
      }
    }
    if (this.state !== 'dot-cr' && start < chunk.length) sink.write(chunk.subarray(start))
    return -1
  }
}

function stateAtEnd(chunk: Buffer, from: number): DecoderState {
  const last = chunk[chunk.length - 1]
  if (last === CR) return 'cr'
  return last === LF && chunk.length - from >= 2 && chunk[chunk.length - 2] === CR ? 'line-start' : 'text'
}
