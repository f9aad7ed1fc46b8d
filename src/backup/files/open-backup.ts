import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from '../format/manifest.ts'
import { findBackup } from './folder.ts'
import { unpackTar } from './tar.ts'

/**
 * Calls `work` with a backup from a folder, or from standard input (`-`). A stream is unpacked into a folder in `varFolder` first,
 * so that all of it can be inspected before any of it is used.
 */
export async function withBackup<Result>(
  from: string,
  { id, varFolder }: { readonly id: string | undefined; readonly varFolder: string },
  work: (folder: string, manifest: Manifest) => Promise<Result>,
): Promise<Result> {
  if (from !== '-') return await work(from, await findBackup(from, id))
  mkdirSync(varFolder, { recursive: true })
  const folder = mkdtempSync(join(varFolder, 'restore-'))
  try {
    await unpackTar(process.stdin, folder)
    return await work(folder, await findBackup(folder, id))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
