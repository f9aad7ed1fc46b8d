import { createHash } from 'node:crypto'
import { type DecryptionKeys, decrypt } from '../format/encryption.ts'
import type { BackupFile } from '../format/manifest.ts'
import { splitLines } from '../format/row.ts'
import { readBackupFile } from './folder.ts'

/** A file of a backup is not what was written; the message says how, in the form "<file> is missing". */
class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError'
  readonly file: string
  constructor(file: string, what: string) {
    super(`${file} ${what}`)
    this.file = file
  }
}

/** A file's bytes as they were written. @throws Damage */
export async function readFileBytes(folder: string, { name, bytes, sha256 }: BackupFile): Promise<Buffer> {
  const found = await readBackupFile(folder, name)
  if (!found) throw new DamagedFileError(name, 'is missing')
  if (found.length !== bytes) throw new DamagedFileError(name, `has ${found.length} bytes; ${bytes} were written`)
  if (createHash('sha256').update(found).digest('hex') !== sha256) throw new DamagedFileError(name, 'is altered')
  return found
}

/** What a file holds, decrypted and unpacked. @throws Damage */
export async function readContent(folder: string, file: BackupFile, opening: DecryptionKeys): Promise<Buffer> {
  const packed = await readFileBytes(folder, file)
  return await unpack(file.name, packed, opening)
}

/** @throws Damage where it cannot be decrypted or unpacked */
async function unpack(name: string, packed: Uint8Array, opening: DecryptionKeys): Promise<Buffer> {
  const compressed = await decrypt(name, packed, opening).catch((error: Error) => {
    throw new DamagedFileError(name, `cannot be decrypted: ${error.message}`)
  })
  try {
    return await Bun.zstdDecompress(compressed)
  } catch (error) {
    throw new DamagedFileError(name, `cannot be unpacked: ${(error as Error).message}`)
  }
}

/** The lines of a file. @throws Damage */
export async function readLines(folder: string, file: BackupFile, opening: DecryptionKeys): Promise<readonly string[]> {
  return splitLines(await readContent(folder, file, opening))
}
