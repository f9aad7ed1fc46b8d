import { createHash } from 'node:crypto'
import { type DecryptionKeys, decrypt } from '../format/encryption.ts'
import type { BackupFile } from '../format/manifest.ts'
import { splitLines } from '../format/row.ts'
import { readBackupFile } from './folder.ts'

/** A file of a backup is missing or not as it was written. The message says so, in the form "<file> is missing". */
class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError'
  readonly file: string
  constructor(file: string, what: string) {
    super(`${file} ${what}`)
    this.file = file
  }
}

/** The bytes of a file, which were compared with its hash. @throws DamagedFileError */
export async function readFileBytes(folder: string, { name, bytes, sha256 }: BackupFile): Promise<Buffer> {
  const content = await readBackupFile(folder, name)
  if (!content) throw new DamagedFileError(name, 'is missing')
  if (content.length !== bytes) throw new DamagedFileError(name, `has ${content.length} bytes; ${bytes} were written`)
  if (createHash('sha256').update(content).digest('hex') !== sha256) throw new DamagedFileError(name, 'is altered')
  return content
}

/** The content of a file, decrypted and decompressed. @throws DamagedFileError */
export async function readContent(folder: string, file: BackupFile, keys: DecryptionKeys): Promise<Buffer> {
  const packed = await readFileBytes(folder, file)
  return await unpack(file.name, packed, keys)
}

/** @throws DamagedFileError when it cannot be decrypted or decompressed */
async function unpack(name: string, packed: Uint8Array, keys: DecryptionKeys): Promise<Buffer> {
  const compressed = await decrypt(name, packed, keys).catch((error: Error) => {
    throw new DamagedFileError(name, `cannot be decrypted: ${error.message}`)
  })
  try {
    return await Bun.zstdDecompress(compressed)
  } catch (error) {
    throw new DamagedFileError(name, `cannot be decompressed: ${(error as Error).message}`)
  }
}

/** The lines of a file. @throws DamagedFileError */
export async function readLines(folder: string, file: BackupFile, keys: DecryptionKeys): Promise<readonly string[]> {
  return splitLines(await readContent(folder, file, keys))
}
