import { join } from 'node:path'
import { projectRoot } from './cli.ts'
import { testSecretKey } from './secrets.ts'

/** A process that does nothing but deliver to webhooks. */
export interface WebhookProcess {
  /** Kills it; resolves when it has ended. */
  kill(): Promise<void>
}

/** Starts a dispatcher in a process of its own. Resolves once it works. */
export async function startWebhookProcess(options: {
  readonly databaseUrl: string
  readonly dnsPort: number
  readonly caFile: string
  readonly leaseMs: number
}): Promise<WebhookProcess> {
  const { databaseUrl, dnsPort, caFile, leaseMs } = options
  const script = join(projectRoot, 'test/harness/webhook-child.ts')
  const values = [databaseUrl, `${dnsPort}`, caFile, testSecretKey.toString('base64'), `${leaseMs}`]
  const child = Bun.spawn([process.execPath, script, ...values], { stdout: 'pipe', stderr: 'inherit' })
  const started = await child.stdout.getReader().read()
  if (started.done) throw new Error('the dispatcher did not start')
  return {
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
