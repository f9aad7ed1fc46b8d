import type { JobRound } from '../concurrency/background-job.ts'

/**
 * After so many seconds with little to do: the next burst of mail has to compile its code again, which is not worth it after a
 * shorter pause. The second time frees what the first one let go of, some 25 MB more.
 */
const releaseAfterSeconds = [60, 70]
/** Of one core, in a second. More than the background jobs of an idle process use. */
const maxIdleCpuMs = 200
/** For so long after a release the CPU time is its own, since it takes place when nothing else runs. */
const releaseSeconds = 2

/** What is measured and what is done; others in tests only. */
export interface IdleMemoryOptions {
  /** CPU time of this process so far, of all its threads, in milliseconds. */
  cpuMs(): number
  /** Gives the memory back. */
  release(): void
}

const thisProcess: IdleMemoryOptions = {
  cpuMs() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },
  // Collects garbage, drops compiled code that can be compiled again, and returns free pages to the system.
  release: () => Bun.shrink(),
}

/**
 * A round, to be run every second, that gives memory back to the system once this process has had little to do for a
 * minute: garbage and compiled code of a burst of mail, which otherwise stay until the next one (some 80 MB). It does so
 * twice after each time of work, so a process that stays idle does nothing, and one that is busy never pauses for it.
 */
export function newIdleMemoryRound({ cpuMs, release }: IdleMemoryOptions = thisProcess): JobRound {
  let usedMs = cpuMs()
  let quietSeconds = 0
  let secondsSinceRelease = releaseSeconds
  return async () => {
    const now = cpuMs()
    const isWorking = now - usedMs > maxIdleCpuMs && secondsSinceRelease >= releaseSeconds
    quietSeconds = isWorking ? 0 : quietSeconds + 1
    secondsSinceRelease++
    usedMs = now
    if (releaseAfterSeconds.includes(quietSeconds)) {
      secondsSinceRelease = 0
      release()
    }
    return 'done'
  }
}
