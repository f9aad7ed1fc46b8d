import { createHash } from 'node:crypto'
import { type Encryption, encrypt, suffixes } from '../format/encryption.ts'
import type { BackupFile } from '../format/manifest.ts'

/** Where a backup is written to. */
export interface Sink {
  /** Writes a file that nothing has yet; it is durable then, as far as the place is. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Writes the manifest, with which the backup is whole. */
  finish(manifest: Uint8Array): Promise<void>
  /** Takes away what was written, where that is possible. */
  abandon(): Promise<void>
}

/** Where the files of one backup are. */
export const folderOf = (id: string) => `backups/${id}`
export const manifestOf = (id: string) => `${folderOf(id)}/manifest.json`
export const segmentsFolder = 'segments'
/** Without the suffixes. */
export const segmentName = (id: string, number: number) => `${segmentsFolder}/${id}-${numbered(number)}.segment`

export function isSegmentName(name: string): boolean {
  return /^\d{8}T\d{9}Z-[0-9a-z]{6}-\d{6,}\.segment\.zst/.test(name)
}

const level = 3

export function packedName(name: string, how: Encryption): string {
  return `${name}.zst${suffixes[how.kind]}`
}

/** Compresses, encrypts and writes a file, whose name gets the suffixes of both. */
export async function putPacked(sink: Sink, name: string, content: Uint8Array, how: Encryption): Promise<BackupFile> {
  const packed = await encrypt(await Bun.zstdCompress(content, { level }), how)
  const whole = packedName(name, how)
  await sink.put(whole, packed)
  return { name: whole, bytes: packed.length, sha256: createHash('sha256').update(packed).digest('hex') }
}

/** Lines that are gathered into files of some MiB. */
export interface LineFiles {
  add(line: string): Promise<void>
  /** All of them, once the last is written. */
  end(): Promise<readonly BackupFile[]>
}

const fileBytes = 4 * 1024 * 1024

export function lineFiles(sink: Sink, name: string, how: Encryption): LineFiles {
  const files: BackupFile[] = []
  let lines: string[] = []
  let bytes = 0
  const flush = async () => {
    if (lines.length === 0) return
    const content = Buffer.from(`${lines.join('\n')}\n`)
    lines = []
    bytes = 0
    files.push(await putPacked(sink, `${name}-${numbered(files.length + 1)}.ndjson`, content, how))
  }
  return {
    async add(line) {
      lines.push(line)
      bytes += line.length + 1
      if (bytes >= fileBytes) await flush()
    },
    async end() {
      await flush()
      return files
    },
  }
}

/** Names sort as their numbers do. */
function numbered(count: number): string {
  return String(count).padStart(6, '0')
}
