import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of its own that is soon full. */
export interface SmallDisk {
  readonly path: string
  freeBytes(): number
  /** Fills it until so many bytes are free; to call it again leaves others free. */
  fillUntilFree(bytes: number): void
  /** Takes the filling away. */
  empty(): void
  close(): void
}

/** Only root may make one. */
export const canMountDisks = process.getuid?.() === 0

/** A file system in memory of so many bytes, mounted on a new folder. */
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
