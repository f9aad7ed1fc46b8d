import { statfs } from 'node:fs/promises'
import type { JobRound } from './concurrency/background-job.ts'
import type { Log } from './observability/log.ts'

/** A folder on a disk with too little free space. */
export interface FullFolder {
  readonly folder: string
  readonly freeBytes: number
}

/** Whether the disks have enough free space to accept mail. */
export interface DiskSpaceMonitor {
  /** As the last {@link check} found it; true before the first. */
  hasSpace(): boolean
  /** Looks at the disks now. Undefined: each has enough free space. */
  findFullFolder(): Promise<FullFolder | undefined>
  /** Looks at the disks, and logs when mail is refused and when it is accepted again. To be run every second. */
  readonly check: JobRound
}

export interface DiskSpaceOptions {
  /** The folders whose disks are checked; asked for each time, since one may be known later only. */
  folders(): Promise<readonly string[]>
  /** `MAILROOM_LEAST_FREE_BYTES`. */
  readonly minFreeBytes: number
  readonly log: Log
}

/**
 * Monitors the disks that some folders are on. A database whose disk is full waits for someone to free space, or stops; so
 * what would fill it is refused while some is still free.
 */
export function openDiskSpaceMonitor({ folders, minFreeBytes, log }: DiskSpaceOptions): DiskSpaceMonitor {
  let full: FullFolder | undefined
  const find = async () => await findFullFolder(await folders(), minFreeBytes)
  return {
    hasSpace: () => full === undefined,
    findFullFolder: find,
    async check() {
      const found = await find()
      if (found && found.folder !== full?.folder)
        log.error(
          { folder: found.folder, free_bytes: found.freeBytes, min_free_bytes: minFreeBytes },
          'the disk is full: mail is refused until there is space again',
        )
      if (full && !found) log.warn({ folder: full.folder }, 'the disk has space again: mail is accepted')
      full = found
      return 'done'
    },
  }
}

/** The first of these folders whose disk has less free space than this; undefined: none. */
export async function findFullFolder(
  folders: readonly string[],
  minFreeBytes: number,
): Promise<FullFolder | undefined> {
  for (const folder of folders) {
    const free = await freeBytes(folder)
    if (free !== undefined && free < minFreeBytes) return { folder, freeBytes: free }
  }
  return undefined
}

/** What an ordinary user may still write on the disk of a folder; undefined: there is no such folder here. */
async function freeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch {
    return undefined
  }
}
