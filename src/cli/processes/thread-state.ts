import { readFileSync } from 'node:fs'

/** What the system knows of the main thread of a process, which runs its event loop. */
export interface ThreadState {
  /** In full, such as `S (sleeping)` or `R (running)`. */
  readonly state: string
  /** The time that it had a core, in milliseconds. */
  readonly ranMs: number
  /** The time that it could have run and had no core, in milliseconds. */
  readonly delayedMs: number
}

/** Where the system does not say (no Linux, or the process is gone), times are 0 and the state is unknown. */
export function readThreadState(pid: number): ThreadState {
  // Fields in nanoseconds: on a core, waiting for one. docs.kernel.org/scheduler/sched-stats.html
  const [ranNs = 0, delayedNs = 0] = read(`/proc/${pid}/schedstat`).split(' ').map(Number)
  const state = /^State:\s*(.+)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 'unknown'
  return { state, ranMs: ranNs / 1e6, delayedMs: delayedNs / 1e6 }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
