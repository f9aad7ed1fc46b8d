import { statfs } from 'node:fs/promises'
import { startJob } from './concurrency/background-job.ts'
import type { Log } from './observability/log.ts'

/** Whether there is room to take more. */
export interface DiskSpaceMonitor {
  hasSpace(): boolean
  stop(): Promise<void>
}

export interface DiskSpaceOptions {
  /** The folders whose disks are watched; asked again each time, since one may be known later only. */
  folders(): Promise<readonly string[]>
  readonly minFreeBytes: number
  readonly log: Log
}

const lookEveryMs = 1000

/**
 * Watches the disks below some folders, once a second. A database whose disk is full waits for someone to free some space,
 * or stops; so what would fill it is refused while there is still some left.
 */
export function watchDiskSpace({ folders, minFreeBytes, log }: DiskSpaceOptions): DiskSpaceMonitor {
  let full: string | undefined
  const options = { pauseMs: lookEveryMs, log, failureMessage: 'the disks were not looked at' }
  const looking = startJob(options, async () => {
    const short = await firstFullFolder(await folders(), minFreeBytes)
    if (short !== full && short !== undefined) log.error({ folder: short }, 'took no more mail, as the disk was full')
    if (short !== full && short === undefined) log.warn('took mail again, as there was room on the disk')
    full = short
    return 'done'
  })
  return { hasSpace: () => full === undefined, stop: () => looking.stop() }
}

async function firstFullFolder(folders: readonly string[], leastFreeBytes: number): Promise<string | undefined> {
  for (const folder of folders) {
    const free = await freeBytes(folder)
    if (free !== undefined && free < leastFreeBytes) return folder
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
