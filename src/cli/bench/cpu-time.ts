import { readFileSync } from 'node:fs'

/** Linux gives times in /proc in hundredths of a second on every machine (USER_HZ). */
const tickMs = 10

/** The CPU time of a process and its threads so far, in user and kernel mode, in milliseconds. proc_pid_stat(5). */
export function cpuTimeMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program, in parentheses, may have spaces; the fields after it begin with the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[14 - 3]) + Number(fields[15 - 3])) * tickMs
}

/** The CPU time of these processes since this was called, in milliseconds by their names. */
export function measureCpuTimes(pids: Readonly<Record<string, number>>): () => Readonly<Record<string, number>> {
  const before = Object.entries(pids).map(([name, pid]) => ({ name, pid, ms: cpuTimeMs(pid) }))
  return () => Object.fromEntries(before.map(({ name, pid, ms }) => [name, cpuTimeMs(pid) - ms]))
}
