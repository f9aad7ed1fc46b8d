import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { memoryBytes, watchMemory } from '../../src/cli/bench/memory.ts'
import { until } from '../harness/until.ts'

const megabyte = 1024 * 1024

/** A program that fills so many bytes, keeps them from the garbage collector, prints its process id, and runs until its input ends. */
const filling = (bytes: number) =>
  `globalThis.filled = Buffer.alloc(${bytes}, 1); console.log(process.pid); for await (const _ of console);`
const childOfIts = (program: string) =>
  `const child = Bun.spawn([process.execPath, '-e', ${JSON.stringify(program)}], { stdin: 'inherit', stdout: 'inherit' }); await child.exited`

/** By what the kernel counts for this file; in `status` it may be behind. proc_pid_smaps(5) */
function residentBytes(pid: number): number {
  return Number(/^Rss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) * 1024
}

test('the memory of a process is that of all its processes, and what they share counts once', async () => {
  const parent = Bun.spawn([process.execPath, '-e', childOfIts(filling(200 * megabyte))], {
    stdin: 'pipe',
    stdout: 'pipe',
  })
  const watch = watchMemory(parent.pid)
  try {
    const { value } = await parent.stdout.getReader().read()
    const child = Number.parseInt(Buffer.from(value ?? []).toString(), 10)
    const bytes = memoryBytes(parent.pid)
    expect(bytes).toBeGreaterThan(200 * megabyte)
    // Both have the same program in memory.
    expect(bytes).toBeLessThan(residentBytes(parent.pid) + residentBytes(child) - 20 * megabyte)
    await until(() => watch.peakBytes() > 200 * megabyte, { what: 'the most memory was seen' })
    parent.stdin.end()
    await parent.exited
    expect(memoryBytes(parent.pid)).toBe(0)
    expect(watch.peakBytes()).toBeGreaterThan(200 * megabyte)
  } finally {
    watch.stop()
    parent.kill()
    await parent.exited
  }
}, 20_000)
