import type { Readable } from 'node:stream'

/** Reads all bytes of a stream that is known to be small. */
export function readAll(content: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    content.on('data', (piece: Buffer) => pieces.push(piece))
    content.on('end', () => resolve(Buffer.concat(pieces)))
    content.on('error', reject)
  })
}

/** Resolves once all of a stream was read; rejects when it is destroyed before. */
export function endOf(stream: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once('end', resolve)
    stream.once('close', () => reject(new Error('an attachment was not read to its end')))
    stream.on('error', reject)
  })
}
