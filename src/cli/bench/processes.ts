import { join } from 'node:path'
import type { Subprocess } from 'bun'
import type { ChildTask } from './child-process.ts'
import { watchMemory } from './memory.ts'

type Child = Subprocess<'pipe', 'pipe', 'inherit'>

/** A child process that runs until it is stopped, and writes lines of JSON. */
export interface BenchProcess {
  readonly pid: number
  /** The next line for which `isWanted` is true; other lines before it are dropped. */
  nextLine<Line>(isWanted?: (line: Line) => boolean): Promise<Line>
  send(line: string): void
  stop(): Promise<void>
}

const running = new Set<BenchProcess>()

/** Stops what a measurement that was interrupted has left running. */
export async function stopBenchProcesses(): Promise<void> {
  await Promise.all(Array.from(running, child => child.stop()))
}

function start(command: readonly string[], env: Readonly<Record<string, string>>): BenchProcess {
  const child: Child = Bun.spawn([...command], {
    env: { ...process.env, ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const lines: unknown[] = []
  let notify: () => void = () => undefined
  const ended = readLines(child.stdout, line => {
    lines.push(line)
    notify()
  })
  const started: BenchProcess = {
    pid: child.pid,
    async nextLine<Line>(isWanted: (line: Line) => boolean = () => true) {
      for (;;) {
        const line = lines.shift() as Line | undefined
        if (line !== undefined && isWanted(line)) return line
        if (line !== undefined) continue
        const more = new Promise<'more'>(resolve => {
          notify = () => resolve('more')
        })
        if ((await Promise.race([more, ended])) !== 'more' && lines.length === 0)
          throw new Error(`${command.slice(0, 3).join(' ')} ended with status ${await child.exited}`)
      }
    },
    send(line) {
      child.stdin.write(`${line}\n`)
      child.stdin.flush()
    },
    async stop() {
      child.kill('SIGTERM')
      await child.exited
      running.delete(started)
    },
  }
  running.add(started)
  return started
}

/** Reads everything, so that the process never blocks on a full pipe. Drops what is no JSON, and log lines of requests. */
async function readLines(stream: ReadableStream<Uint8Array>, onLine: (line: unknown) => void): Promise<void> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const chunk of stream) {
    pending += decoder.decode(chunk, { stream: true })
    const lines = pending.split('\n')
    pending = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('{') && !line.includes('"request_id"')) onLine(JSON.parse(line))
  }
}

/** Starts a task that runs until it is stopped. */
export function startTask(part: ChildTask): BenchProcess {
  return start([process.execPath, join(import.meta.dir, 'child-process.ts'), JSON.stringify(part)], {})
}

/** Runs a task to its end and gives its result, the line that it prints. */
export async function runTask<Result>(part: ChildTask): Promise<Result> {
  const child = startTask(part)
  try {
    return await child.nextLine<Result>()
  } finally {
    await child.stop()
  }
}

/** A Mailroom process that serves. */
export interface MailroomProcess extends BenchProcess {
  readonly http: number | null
  readonly smtp: number | null
  readonly submission: number | null
  /** The most memory that all its processes had together, in bytes. */
  peakBytes(): number
}

interface ServingLine {
  readonly msg: string
  readonly http: string | null
  readonly smtp: string | null
  readonly submission?: string
}

/** Starts `./mailroom serve` with these settings and waits until it serves. */
export async function startMailroom(env: Readonly<Record<string, string>>): Promise<MailroomProcess> {
  const serving = start([process.execPath, join(import.meta.dir, '..', 'cli.ts'), 'serve'], env)
  const { http, smtp, submission } = await serving.nextLine<ServingLine>(({ msg }) => msg === 'serving')
  const portOf = (address: string | null = null) => (address === null ? null : Number(address.split(':').at(-1)))
  const memory = watchMemory(serving.pid)
  return {
    ...serving,
    ...{ http: portOf(http), smtp: portOf(smtp), submission: portOf(submission) },
    peakBytes: () => memory.peakBytes(),
    async stop() {
      memory.stop()
      await serving.stop()
    },
  }
}
