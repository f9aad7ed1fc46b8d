import { test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../harness/cli.ts'
import { until } from '../harness/until.ts'

interface Process {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

function processes(): readonly Process[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => {
      try {
        const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1])
        return [{ pid: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, 'utf8') }]
      } catch {
        // It has just ended.
        return []
      }
    })
}

test('an interrupted benchmark ends all that it started', async () => {
  const bench = Bun.spawn([process.execPath, join(projectRoot, 'src/cli/cli.ts'), 'bench', '--only', 'accept'], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const children = () => processes().filter(({ parent }) => parent === bench.pid)
  try {
    // What answers, and what asks.
    const isMeasuring = () => children().filter(({ command }) => command.includes('child-process.ts')).length === 2
    await until(isMeasuring, { what: 'a measurement runs', withinMs: 120_000 })
    const started = children().map(({ pid }) => pid)
    bench.kill('SIGTERM')
    await bench.exited
    const left = () => processes().filter(({ pid, command }) => started.includes(pid) && command !== '')
    await until(() => left().length === 0, { what: 'nothing is left', details: () => JSON.stringify(left()) })
  } finally {
    bench.kill('SIGTERM')
    await bench.exited
  }
}, 180_000)
