import { readdirSync, readFileSync } from 'node:fs'

const sampleMs = 250

/**
 * The memory of a process and of all that it started, in bytes: the sum of their PSS, in which a page that several processes share
 * counts once. 0 when it has ended. proc_pid_smaps(5)
 */
export function memoryBytes(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    const ownBytes = Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024
    return childrenOf(pid).reduce((sum, child) => sum + memoryBytes(child), ownBytes)
  } catch {
    return 0
  }
}

/** The processes that a process has started. proc_pid_children(5) */
export function childrenOf(pid: number): readonly number[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads
    .flatMap(thread => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
    .filter(child => child !== '')
    .map(Number)
}

/** Looks at {@link memoryBytes} a few times a second until it is stopped. */
export interface MemoryWatch {
  /** The most that was seen. */
  peakBytes(): number
  stop(): void
}

export function watchMemory(pid: number): MemoryWatch {
  let peakBytes = 0
  const look = () => {
    peakBytes = Math.max(peakBytes, memoryBytes(pid))
  }
  const timer = setInterval(look, sampleMs)
  return {
    peakBytes() {
      look()
      return peakBytes
    },
    stop: () => clearInterval(timer),
  }
}
