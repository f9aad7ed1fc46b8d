import { createWriteStream } from 'node:fs'
import type { Writable } from 'node:stream'

/** Where a command writes what it exports: a file, or standard output. */
export interface ExportOutput {
  /** Resolves when the bytes are written, so that memory does not grow. */
  write(bytes: Buffer | string): Promise<void>
  end(): Promise<void>
}

/** `file` undefined: standard output. A file is created, readable by its owner only; an existing one is not overwritten. */
export function openExportOutput(file: string | undefined): ExportOutput {
  if (file === undefined) return { write: bytes => writeTo(process.stdout, bytes), end: async () => undefined }
  const stream = createWriteStream(file, { flags: 'wx', mode: 0o600 })
  // The next write fails with the same error.
  stream.on('error', () => undefined)
  return {
    write: bytes => writeTo(stream, bytes),
    end: () =>
      new Promise((resolve, reject) => {
        stream.once('error', reject)
        stream.end(resolve)
      }),
  }
}

function writeTo(stream: Writable, bytes: Buffer | string): Promise<void> {
  return new Promise((resolve, reject) => stream.write(bytes, error => (error ? reject(error) : resolve())))
}
