import { closeSync, openSync, readSync } from 'node:fs'

/**
 * The bytes of a file, read without leaving this thread: a fraction of the work of a stream where the file was just written,
 * and for worker threads, since a slow disk stops this one.
 * @param nextBuffer what the next piece is read into; a piece is as long, but for the last
 */
export function* filePieces(path: string, nextBuffer: () => Buffer): Generator<Buffer, void> {
  const file = openSync(path, 'r')
  try {
    for (;;) {
      const buffer = nextBuffer()
      const length = readSync(file, buffer)
      if (length === 0) return
      yield buffer.subarray(0, length)
    }
  } finally {
    closeSync(file)
  }
}
