import { resultOf, type Splitter, type SplitterNode } from './splitter.ts'

// mailsplit, which mailparser reads messages with, looks at each byte of a message for the end of its line, and at each line
// for a delimiter. In a body the delimiters are found in a fraction of that time by the bytes that they begin with.

const inHeader = 1
const [lf, cr, dash] = [0x0a, 0x0d, 0x2d]
const dashes = Buffer.from('\n--')
/** A CR alone before a delimiter is taken for a line end, too. */
const dashesAfterCr = Buffer.from('\n\r--')
/** Bytes of lines that are looked at one by one before the event loop has its turn. */
const maxLineBytesAtOnce = 16 * 1024

/**
 * Makes this splitter look only at those lines of a body that begin as a delimiter does, and at none in the body of a message
 * that is no multipart: nothing in it is a delimiter. It finds the same as it does by itself in a message that is given whole,
 * wherever the pieces of the message end.
 */
export function splitByBytes(splitter: Splitter): void {
  const begun = new WeakSet<SplitterNode>()
  splitter._transform = (bytes, _encoding, done) => {
    const piece = new Piece(splitter, bytes, begun)
    const read = () => {
      const outcome = piece.read()
      if (outcome === 'paused') return void setImmediate(read)
      const error = outcome === 'read' ? splitter.enforcePendingLineLimit() : outcome
      splitter.hasFailed ||= error !== null
      done(error)
    }
    read()
  }
}

/** A piece of the message while it is split. In a body, what lies between `runStart` and `at` is given on together. */
class Piece {
  private at = 0
  private runStart = 0
  /** Parts of a body; or delimiters, and what no part has (`data`). */
  private runType: 'body' | 'data' = 'body'
  /** Not so within a line whose beginning was given on. */
  private isLineStart = true
  /** Where the next line is that begins with a CR and dashes; -1: nowhere; null: it was not looked for yet. */
  private nextAfterCr: number | null = null
  private readonly splitter: Splitter
  private readonly bytes: Buffer
  /** The parts of which some of the body was given on. */
  private readonly begun: WeakSet<SplitterNode>

  constructor(splitter: Splitter, bytes: Buffer, begun: WeakSet<SplitterNode>) {
    this.splitter = splitter
    this.begun = begun
    const pending = splitter.state !== inHeader && splitter.takePendingLine()
    this.bytes = pending ? Buffer.concat([pending, bytes]) : bytes
    if (splitter.state === inHeader || !splitter.pendingLineTruncated) return
    splitter.pendingLineTruncated = false
    this.isLineStart = false
    begun.add(splitter.node)
  }

  /** Reads on to the end of the piece, or until other work has waited long enough. */
  read(): 'read' | 'paused' | Error {
    const { splitter, bytes } = this
    for (let lineBytes = 0; this.at < bytes.length; ) {
      if (lineBytes >= maxLineBytesAtOnce) return 'paused'
      if (isInSinglePart(splitter)) return this.giveAll()
      const isHeader = splitter.state === inHeader
      const start = isHeader ? this.at : this.nextCandidate()
      const end = start < 0 ? 0 : bytes.indexOf(lf, start) + 1
      if (end === 0) {
        if (isHeader) splitter.appendPendingLine(bytes.subarray(start))
        else this.holdBack(start)
        return 'read'
      }
      const error = isHeader ? this.readHeaderLine(end) : this.readCandidate(start, end)
      if (error) return error
      lineBytes += end - start
    }
    if (splitter.state !== inHeader) this.holdBack(this.at)
    return 'read'
  }

  private giveAll(): 'read' {
    const { splitter, bytes } = this
    splitter.push({ type: 'body', node: splitter.node, value: bytes.subarray(this.at) })
    this.at = bytes.length
    return 'read'
  }

  private readHeaderLine(end: number): Error | null {
    const { splitter } = this
    let failure: Error | null = null
    // At once, since the splitter may have more to give on after it has called back.
    splitter.processLine(this.bytes.subarray(this.at, end), false, (error, chunk) => {
      failure = error ?? null
      if (chunk) splitter.push(chunk)
    })
    this.at = this.runStart = end
    return failure
  }

  /** The start of the next line that may be a delimiter; -1: none of the piece is. */
  private nextCandidate(): number {
    const { at, bytes } = this
    if (this.isLineStart && beginsWithDashes(bytes, at)) return at
    if (this.nextAfterCr === null || (this.nextAfterCr >= 0 && this.nextAfterCr < at))
      this.nextAfterCr = bytes.indexOf(dashesAfterCr, at)
    const next = bytes.indexOf(dashes, at)
    if (next < 0 || this.nextAfterCr < 0) return Math.max(next, this.nextAfterCr) + 1 || -1
    return Math.min(next, this.nextAfterCr) + 1
  }

  private readCandidate(start: number, end: number): Error | null {
    const { splitter, bytes } = this
    const { node } = splitter
    this.extendRun(start)
    const line = bytes.subarray(start, end)
    const { error, chunk, flush } = resultOf(done => splitter.processLine(line, false, done))
    if (error) return error
    const type = chunk && chunk.type === 'body' ? 'body' : 'data'
    if (flush) {
      const from = this.endRun(start, node, true)
      splitter.push({ ...chunk, value: bytes.subarray(from, end) })
      this.runStart = end
    } else if (type !== this.runType) {
      this.runStart = this.endRun(start, node, false)
      this.runType = type
    }
    this.at = end
    this.isLineStart = true
    return null
  }

  /** Takes what lies before `end`, in which there is no delimiter, into the run. */
  private extendRun(end: number): void {
    const { node } = this.splitter
    if (end === this.at) return
    const type = node.multipart ? 'data' : 'body'
    if (type !== this.runType) this.runStart = this.endRun(this.at, node, false)
    this.runType = type
    this.at = end
  }

  /**
   * Gives on the run up to `end`, without the line end of the delimiter that follows a part's body: the result is where that
   * begins. A body of one line end alone is given on with it, as mailsplit does, before a further part.
   */
  private endRun(end: number, node: SplitterNode, isBeforePart: boolean): number {
    const start = this.runStart
    const isPartBody = this.runType === 'body' && node.parentNode !== false
    const trimmed = isPartBody ? withoutLineEnd(this.bytes, start, end) : end
    const isLineEndAlone = trimmed === start && isBeforePart && !this.begun.has(node)
    const to = isLineEndAlone ? end : trimmed
    if (to > start) {
      this.splitter.push({ type: this.runType, node, value: this.bytes.subarray(start, to) })
      if (isPartBody) this.begun.add(node)
    }
    return to
  }

  /** Gives on the rest of the piece except for what may be the beginning of a delimiter, or the line end before it. */
  private holdBack(candidate: number): void {
    const { splitter, bytes } = this
    const lineStart = candidate >= 0 ? candidate : Math.max(bytes.lastIndexOf(lf) + 1, this.at)
    const mayBegin = (lineStart > this.at || this.isLineStart) && mayBeginWithDashes(bytes, lineStart)
    const isCrLast = bytes[bytes.length - 1] === cr
    this.extendRun(mayBegin ? lineStart : bytes.length - (isCrLast ? 1 : 0))
    splitter.appendPendingLine(bytes.subarray(this.endRun(this.at, splitter.node, false)))
    splitter.pendingLineTruncated = !mayBegin
    this.at = bytes.length
  }
}

/** A line begins with dashes, or with a CR and dashes. */
function beginsWithDashes(bytes: Buffer, at: number): boolean {
  const start = bytes[at] === cr ? at + 1 : at
  return bytes[start] === dash && bytes[start + 1] === dash
}

/** The same of a line of which the rest is still to come. */
function mayBeginWithDashes(bytes: Buffer, at: number): boolean {
  const start = bytes[at] === cr ? at + 1 : at
  const isDash = (position: number) => position >= bytes.length || bytes[position] === dash
  return isDash(start) && isDash(start + 1)
}

function withoutLineEnd(bytes: Buffer, start: number, end: number): number {
  if (end <= start || bytes[end - 1] !== lf) return end
  return end - 1 > start && bytes[end - 2] === cr ? end - 2 : end - 1
}

/** Whether the body of a message is read in which nothing is a delimiter. */
function isInSinglePart({ state, node }: Splitter): boolean {
  return state !== inHeader && !node.parentNode && !node.multipart && !node._boundary
}
