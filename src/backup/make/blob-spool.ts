import { once } from 'node:events'
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A blob of the backup: in segments of an earlier backup, or still to be copied. */
export type SpooledBlob =
  | { readonly id: string; readonly segments: readonly string[] }
  | { readonly id: string; readonly size: number; readonly sha256: string }

/** A FIFO of the blobs to be copied, on disk, since there may be millions. */
export interface BlobSpool {
  add(blob: SpooledBlob): Promise<void>
  /** To be called once, after the last was added. */
  read(): AsyncIterable<SpooledBlob>
  close(): void
}

export function openBlobSpool(): BlobSpool {
  const folder = mkdtempSync(join(tmpdir(), 'mailroom-backup-'))
  const file = join(folder, 'blobs')
  const output = createWriteStream(file, { mode: 0o600 })
  return {
    async add(blob) {
      if (!output.write(`${JSON.stringify(blob)}\n`)) await once(output, 'drain')
    },
    async *read() {
      output.end()
      await once(output, 'finish')
      for await (const line of createInterface({ input: createReadStream(file) })) yield JSON.parse(line) as SpooledBlob
    },
    close() {
      output.destroy()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
