import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import type { ChildTask } from './child-process.ts'

type Child = Subprocess<'pipe', 'pipe', 'inherit'>

/** A process of ours that goes on until it is ended, and says things in lines of JSON. */
export interface BenchProcess {
  readonly pid: number
  /** The next line it says, that `isWanted`. */
  nextLine<Line>(isWanted?: (line: Line) => boolean): Promise<Line>
  send(line: string): void
  /** The most memory it ever had resident, in bytes. */
  peakBytes(): number
  stop(): Promise<void>
}

function start(command: readonly string[], env: Readonly<Record<string, string>>): BenchProcess {
  const child: Child = Bun.spawn([...command], {
    env: { ...process.env, ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const said: unknown[] = []
  let heard: () => void = () => undefined
  const ended = readLines(child.stdout, line => {
    said.push(line)
    heard()
  })
  return {
    pid: child.pid,
    async nextLine<Line>(isWanted: (line: Line) => boolean = () => true) {
      for (;;) {
        const line = said.shift() as Line | undefined
        if (line !== undefined && isWanted(line)) return line
        if (line !== undefined) continue
        const more = new Promise<'more'>(resolve => {
          heard = () => resolve('more')
        })
        if ((await Promise.race([more, ended])) !== 'more' && said.length === 0)
          throw new Error(`${command.slice(0, 3).join(' ')} ended with status ${await child.exited}`)
      }
    },
    send(line) {
      child.stdin.write(`${line}\n`)
      child.stdin.flush()
    },
    peakBytes: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024
    },
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

/** Hears all that is said, so that nobody waits for a full pipe; what is no JSON, and logs of requests, is let go. */
async function readLines(stream: ReadableStream<Uint8Array>, hear: (line: unknown) => void): Promise<void> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const chunk of stream) {
    pending += decoder.decode(chunk, { stream: true })
    const lines = pending.split('\n')
    pending = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('{') && !line.includes('"request_id"')) hear(JSON.parse(line))
  }
}

/** Starts a part that goes on. */
export function startTask(part: ChildTask): BenchProcess {
  return start([process.execPath, join(import.meta.dir, 'child-process.ts'), JSON.stringify(part)], {})
}

/** Runs a part to its end and gives what it says. */
export async function runTask<Result>(part: ChildTask): Promise<Result> {
  const running = startTask(part)
  try {
    return await running.nextLine<Result>()
  } finally {
    await running.stop()
  }
}

/** A Mailroom of its own, once it serves. */
export interface MailroomProcess extends BenchProcess {
  readonly http: number | null
  readonly smtp: number | null
}

/** Starts `mailroom serve` with these settings and waits until it serves. */
export async function startMailroom(env: Readonly<Record<string, string>>): Promise<MailroomProcess> {
  const running = start([process.execPath, join(import.meta.dir, '..', 'cli.ts'), 'serve'], env)
  const line = await running.nextLine<{ msg: string; http: string | null; smtp: string | null }>(
    each => each.msg === 'serving',
  )
  const portOf = (address: string | null) => (address === null ? null : Number(address.split(':').at(-1)))
  return { ...running, http: portOf(line.http), smtp: portOf(line.smtp) }
}
