import { join } from 'node:path'

/** How long answers took, in milliseconds. */
export interface Latency {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Asks GET /health again and again, from a process of its own, so that no load of ours counts against the server. */
export async function watchHealth(http: string): Promise<{ end(): Promise<Latency> }> {
  const { hostname, port } = new URL(http)
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'health-probe.ts'), hostname, port], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const printed = new Response(child.stdout).text()
  return {
    async end() {
      child.stdin.end()
      const times = (JSON.parse((await printed).replace('ready\n', '')) as number[]).sort((a, b) => a - b)
      const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN
      return { count: times.length, p50: at(0.5), p99: at(0.99), max: at(1) }
    },
  }
}

export interface Load {
  readonly clients: number
  readonly to: string
  /** Where the message is; a `%` in its header becomes the client's number. */
  readonly file: string
  /** The first client's number. */
  readonly first: number
}

/** Sends a message from SMTP clients at once, which live in a process of their own, and gives what each heard at the end. */
export async function sendAtOnce(port: number, { clients, to, file, first }: Load): Promise<readonly string[]> {
  const program = join(import.meta.dir, 'mail-load.ts')
  const child = Bun.spawn([process.execPath, program, String(port), String(first), String(clients), to, file], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return JSON.parse(await new Response(child.stdout).text()) as string[]
}
