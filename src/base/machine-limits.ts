import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { dirname, join } from 'node:path'

/** What this process may use of the machine. */
export interface MachineLimits {
  /** At least 1. */
  readonly cores: number
  readonly memoryBytes: number
  /** Is the memory that of a container or service, and not of the whole machine, on which other programs run? */
  readonly isMemoryOurs: boolean
}

/**
 * The cores and the memory that affinity, the container and the service manager leave to this process: cpu.max and memory.max
 * of its control group and of those above it (cgroup v2, cgroups(7)).
 */
export function readMachineLimits(cgroupRoot = '/sys/fs/cgroup', ownCgroup = readOwnCgroup()): MachineLimits {
  const groups = withParents(ownCgroup)
  const limitsOf = (file: string, parse: (text: string) => number) =>
    groups.map(group => readLimit(join(cgroupRoot, group, file), parse))
  const cores = Math.min(availableParallelism(), ...limitsOf('cpu.max', readCores))
  const limitBytes = Math.min(...limitsOf('memory.max', Number))
  const isMemoryOurs = limitBytes < totalmem()
  return { cores: Math.max(1, Math.floor(cores)), memoryBytes: Math.min(limitBytes, totalmem()), isMemoryOurs }
}

/** `quota period`, in microseconds, or `max period`. */
function readCores(text: string): number {
  const [quota, period] = text.split(' ').map(Number)
  return (quota ?? Number.NaN) / (period ?? Number.NaN)
}

/** Infinity: there is no limit, or no such file. */
function readLimit(path: string, parse: (text: string) => number): number {
  try {
    const limit = parse(readFileSync(path, 'utf8').trim())
    return limit > 0 ? limit : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** The path of this process in the unified hierarchy; in a container it is `/`. */
function readOwnCgroup(): string {
  try {
    return /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/'
  } catch {
    return '/'
  }
}

/** `/a/b` gives `/a/b`, `/a` and `/`. */
function withParents(path: string): readonly string[] {
  return path === '/' ? ['/'] : [path, ...withParents(dirname(path))]
}
