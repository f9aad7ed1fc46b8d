import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A small file system, for tests of a full disk. */
export interface SmallDisk {
  readonly path: string
  freeBytes(): number
  /** Fills it until so many bytes are free; replaces an earlier filling. */
  fillUntilFree(bytes: number): void
  /** Removes the filling. */
  empty(): void
  close(): void
}

/** Only root may mount a file system. */
export const canMountDisks = process.getuid?.() === 0

/** Mounts a tmpfs of so many bytes on a new folder. */
export function openSmallDisk(bytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'mailroom-disk-'))
  run('mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=755`, 'tmpfs', path)
  const ballast = join(path, 'ballast')
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  }
  const empty = () => rmSync(ballast, { force: true })
  return {
    path,
    freeBytes,
    empty,
    fillUntilFree(left) {
      empty()
      const file = openSync(ballast, 'w')
      const piece = Buffer.alloc(64 * 1024)
      while (freeBytes() > left) writeSync(file, piece, 0, Math.min(piece.length, freeBytes() - left))
      closeSync(file)
    },
    close() {
      run('umount', '-l', path)
      rmSync(path, { recursive: true })
    },
  }
}

function run(...command: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...command])
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr}`)
}
