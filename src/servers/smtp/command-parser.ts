import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { DataDecoder, type DataSink } from './data-decoder.ts'

/** Where the bytes of DATA go. */
export interface DataReceiver extends DataSink {
  /** Resolves when more bytes may come; undefined: now. */
  backpressure(): Promise<void> | undefined
  /** The final dot came. What the client sent after it waits until `resume`. */
  end(resume: () => void): void
}

/**
 * Splits what a client sends into commands, as smtp-server does, and into DATA, as it should: the library's own reading
 * of DATA drops dots after a bare LF, keeps the one of `.x`, and takes a turn of the event loop for each stuffed dot.
 */
export class CommandParser extends SMTPStream {
  private data: { readonly decoder: DataDecoder; readonly taker: DataReceiver } | undefined

  /** What follows the current command is DATA. */
  startData(taker: DataReceiver): void {
    this._dataMode = true
    this.data = { decoder: new DataDecoder(), taker }
  }

  override _feedDataStream(chunk: Buffer, done: (error?: Error | null) => void): void {
    const end = this.data ? this.data.decoder.decode(chunk, this.data.taker) : chunk.length
    const taker = this.data?.taker
    if (end < 0) {
      const busy = taker?.backpressure()
      if (busy) void busy.then(() => done())
      else done()
    } else {
      this._dataMode = false
      this._remainder = ''
      this.data = undefined
      taker?.end(() => this._write(chunk.subarray(end), 'buffer', done))
    }
  }

  /** A line that the client did not end is no command. */
  override _flushData(): void {
    this._remainder = ''
  }
}
