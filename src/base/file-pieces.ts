import { closeSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'

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

/**
 * The bytes of a file from `start` up to but not including `end`, read without stopping this thread. Each piece is read into
 * `buffer`, and valid until the next one is.
 */
export async function* fileRange(
  path: string,
  { start, end }: { readonly start: number; readonly end: number },
  buffer: Buffer,
): AsyncGenerator<Buffer, void> {
  const file = await open(path, 'r')
  try {
    for (let at = start; at < end; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at)
      if (bytesRead === 0) throw new Error('a file is shorter than it was')
      yield buffer.subarray(0, bytesRead)
      at += bytesRead
    }
  } finally {
    await file.close()
  }
}
