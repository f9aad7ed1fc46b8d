import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { DataDecoder, type DataSink } from './data-decoder.ts'

const LF = 0x0a

/** Receives the bytes of DATA. */
export interface DataReceiver extends DataSink {
  /** Resolves when it takes more bytes; undefined: it takes them now. */
  backpressure(): Promise<void> | undefined
  /** The final dot came. Commands that the client sent after it wait until `resume` is called. */
  end(resume: () => void): void
}

/**
 * Splits a client's input into commands, as smtp-server does, and DATA, with a decoder of our own: the library's drops dots
 * after a bare LF, keeps the dot of `.x`, and takes a turn of the event loop for each stuffed dot.
 */
export class CommandParser extends SMTPStream {
  /** When the bytes of the current command had come, at the latest; on the clock of `performance.now()`. */
  receivedAt = performance.now()
  /** Did the client send more together with the current command (RFC 2920)? */
  isPipelined = false
  private data: { readonly decoder: DataDecoder; readonly receiver: DataReceiver } | undefined

  /** The bytes after the current command are DATA. */
  startData(receiver: DataReceiver): void {
    this._dataMode = true
    this.data = { decoder: new DataDecoder(), receiver }
  }

  override _write(chunk: Buffer, encoding: BufferEncoding | 'buffer', done: (error?: Error | null) => void): void {
    this.receivedAt = performance.now()
    this.isPipelined = chunk.indexOf(LF) < chunk.length - 1
    super._write(chunk, encoding, done)
  }

  override _feedDataStream(chunk: Buffer, done: (error?: Error | null) => void): void {
    const end = this.data ? this.data.decoder.decode(chunk, this.data.receiver) : chunk.length
    const receiver = this.data?.receiver
    if (end < 0) {
      const ready = receiver?.backpressure()
      if (ready) void ready.then(() => done())
      else done()
    } else {
      this._dataMode = false
      this._remainder = ''
      this.data = undefined
      receiver?.end(() => this._write(chunk.subarray(end), 'buffer', done))
    }
  }

  /** An unterminated line at the end of the connection is not a command. */
  override _flushData(): void {
    this._remainder = ''
  }
}
