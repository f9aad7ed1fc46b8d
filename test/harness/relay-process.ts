import { join } from 'node:path'
import { projectRoot } from './cli.ts'

/** A process that does nothing but relay. */
export interface RelayProcess {
  readonly pid: number
  signal(signal: NodeJS.Signals): void
  /** Kills it; resolves when it has ended. */
  kill(): Promise<void>
}

/** Starts a relay in a process of its own. Resolves once it works. */
export async function startRelayProcess(options: {
  readonly databaseUrl: string
  readonly smarthostUrl: string
  readonly leaseMs: number
  readonly connections: number
}): Promise<RelayProcess> {
  const { databaseUrl, smarthostUrl, leaseMs, connections } = options
  const script = join(projectRoot, 'test/harness/relay-child.ts')
  const child = Bun.spawn([process.execPath, script, databaseUrl, smarthostUrl, `${leaseMs}`, `${connections}`], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const started = await child.stdout.getReader().read()
  if (started.done) throw new Error('the relay did not start')
  return {
    pid: child.pid,
    signal: signal => child.kill(signal),
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
