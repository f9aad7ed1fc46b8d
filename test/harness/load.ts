import { join } from 'node:path'
import type { MailroomProcess } from './mailroom.ts'

/** Response times in milliseconds. */
export interface Latency {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface HealthLatency {
  readonly total: Latency
  /** Without the time that the server waited for a CPU, which depends on the other programs of the machine. */
  readonly withoutCpuWait: Latency
}

/** Measures GET /health repeatedly from a process of its own, so that the load of the test itself does not count. */
export async function measureHealthLatency({ http, pid }: MailroomProcess): Promise<{ end(): Promise<HealthLatency> }> {
  const { hostname, port } = new URL(http)
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'health-probe.ts'), hostname, port, String(pid)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const printed = new Response(child.stdout).text()
  return {
    async end() {
      child.stdin.end()
      const times = JSON.parse((await printed).replace('ready\n', '')) as { [Part in keyof HealthLatency]: number[] }
      return { total: latencyOf(times.total), withoutCpuWait: latencyOf(times.withoutCpuWait) }
    },
  }
}

function latencyOf(times: number[]): Latency {
  times.sort((a, b) => a - b)
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN
  return { count: times.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}

export interface SmtpLoad {
  readonly clients: number
  readonly to: string
  /** The file of the message; a `%` in its header becomes the client's number. */
  readonly file: string
}

/** Sends a message from several SMTP clients at once, in a process of their own. Returns the final reply to each. */
export async function sendConcurrently(port: number, { clients, to, file }: SmtpLoad): Promise<readonly string[]> {
  const program = join(import.meta.dir, 'mail-load.ts')
  const child = Bun.spawn([process.execPath, program, String(port), String(clients), to, file], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return JSON.parse(await new Response(child.stdout).text()) as string[]
}
