import { createWriteStream } from 'node:fs'
import type { Writable } from 'node:stream'

/** Where a command writes what it exports: a file, or standard output. */
export interface ExportOutput {
  /** Done once whoever takes it has taken it, so that nothing piles up. */
  write(bytes: Buffer | string): Promise<void>
  end(): Promise<void>
}

/** `file` undefined: standard output. The file is made, for its owner alone; one that is there is not overwritten. */
export function openExportOutput(file: string | undefined): ExportOutput {
  if (file === undefined) return { write: bytes => written(process.stdout, bytes), end: async () => undefined }
  const stream = createWriteStream(file, { flags: 'wx', mode: 0o600 })
  // A write tells the same trouble.
  stream.on('error', () => undefined)
  return {
    write: bytes => written(stream, bytes),
    end: () =>
      new Promise((resolve, reject) => {
        stream.once('error', reject)
        stream.end(resolve)
      }),
  }
}

function written(stream: Writable, bytes: Buffer | string): Promise<void> {
  return new Promise((resolve, reject) => stream.write(bytes, error => (error ? reject(error) : resolve())))
}
