import { createHash } from 'node:crypto'
import { type Encryption, encrypt, encryptionSuffixes } from '../format/encryption.ts'
import type { BackupFile } from '../format/manifest.ts'

/** Where a backup is written to. */
export interface BackupSink {
  /** Writes a file that nothing has yet; it is durable then, as far as the place is. */
  write(name: string, bytes: Uint8Array): Promise<void>
  /** Writes the manifest, with which the backup is whole. */
  finish(manifest: Uint8Array): Promise<void>
  /** Takes away what was written, where that is possible. */
  abandon(): Promise<void>
}

/** Where the files of one backup are. */
export const backupFolder = (id: string) => `backups/${id}`
export const manifestName = (id: string) => `${backupFolder(id)}/manifest.json`
export const segmentsFolder = 'segments'
/** Without the suffixes. */
export const segmentName = (id: string, number: number) => `${segmentsFolder}/${id}-${zeroPadded(number)}.segment`

export function isSegmentName(name: string): boolean {
  return /^\d{8}T\d{9}Z-[0-9a-z]{6}-\d{6,}\.segment\.zst/.test(name)
}

const compressionLevel = 3

export function packedName(name: string, how: Encryption): string {
  return `${name}.zst${encryptionSuffixes[how.kind]}`
}

/** Compresses, encrypts and writes a file, whose name gets the suffixes of both. */
export async function writePackedFile(
  sink: BackupSink,
  name: string,
  content: Uint8Array,
  how: Encryption,
): Promise<BackupFile> {
  const packed = await encrypt(await Bun.zstdCompress(content, { level: compressionLevel }), how)
  const whole = packedName(name, how)
  await sink.write(whole, packed)
  return { name: whole, bytes: packed.length, sha256: createHash('sha256').update(packed).digest('hex') }
}

/** Lines that are gathered into files of some MiB. */
export interface LineFileWriter {
  add(line: string): Promise<void>
  /** All of them, once the last is written. */
  end(): Promise<readonly BackupFile[]>
}

const fileBytes = 4 * 1024 * 1024

export function openLineFiles(sink: BackupSink, name: string, how: Encryption): LineFileWriter {
  const files: BackupFile[] = []
  let lines: string[] = []
  let bytes = 0
  const flush = async () => {
    if (lines.length === 0) return
    const content = Buffer.from(`${lines.join('\n')}\n`)
    lines = []
    bytes = 0
    files.push(await writePackedFile(sink, `${name}-${zeroPadded(files.length + 1)}.ndjson`, content, how))
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
function zeroPadded(count: number): string {
  return String(count).padStart(6, '0')
}
