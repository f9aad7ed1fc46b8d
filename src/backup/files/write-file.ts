import { createHash } from 'node:crypto'
import { type Encryption, encrypt, encryptionSuffixes } from '../format/encryption.ts'
import type { BackupFile } from '../format/manifest.ts'
import { zeroPadded } from './names.ts'
import type { BackupSink } from './sink.ts'

const compressionLevel = 3

/** The name of a file with the suffixes of compression and encryption. */
export function packedName(name: string, encryption: Encryption): string {
  return `${name}.zst${encryptionSuffixes[encryption.kind]}`
}

/** Compresses, encrypts and writes a file, under its {@link packedName}. */
export async function writePackedFile(
  sink: BackupSink,
  name: string,
  content: Uint8Array,
  encryption: Encryption,
): Promise<BackupFile> {
  const packed = await encrypt(await Bun.zstdCompress(content, { level: compressionLevel }), encryption)
  const fullName = packedName(name, encryption)
  await sink.write(fullName, packed)
  return { name: fullName, bytes: packed.length, sha256: createHash('sha256').update(packed).digest('hex') }
}

/** Collects lines into files of a few MiB. */
export interface LineFileWriter {
  add(line: string): Promise<void>
  /** Writes the last file; gives all of them. */
  end(): Promise<readonly BackupFile[]>
}

/** The size of a file before compression, in bytes. */
const fileBytes = 4 * 1024 * 1024

export function openLineFiles(sink: BackupSink, name: string, encryption: Encryption): LineFileWriter {
  const files: BackupFile[] = []
  let lines: string[] = []
  let bytes = 0
  const flush = async () => {
    if (lines.length === 0) return
    const content = Buffer.from(`${lines.join('\n')}\n`)
    lines = []
    bytes = 0
    files.push(await writePackedFile(sink, `${name}-${zeroPadded(files.length + 1)}.ndjson`, content, encryption))
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
