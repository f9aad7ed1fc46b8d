import { type Config, readConfig } from '../base/config/config.ts'
import { processCount } from '../base/config/processes.ts'
import { readMachineLimits } from '../base/machine-limits.ts'
import { defineCommand } from './command.ts'
import { buildWhenOutdated } from './dashboard/built.ts'
import { type RunningProcesses, serveInProcesses } from './processes/parent.ts'
import { openServiceManager } from './service-manager.ts'
import { untilShutdownSignal } from './signals.ts'

export const serveCommand = defineCommand({
  name: 'serve',
  summary: 'Serve in production, with the settings of MAILROOM_* variables',
  details: `Receives mail over SMTP, serves the HTTP API and relays what is sent, according to MAILROOM_ROLES. docs/settings.md lists
all MAILROOM_* variables. The tables are migrated first. MAILROOM_PROCESSES says how many processes share the listening ports.
SIGTERM or Ctrl-C finishes the work in progress, then stops; a second one stops at once.`,
  hasJson: false,
  async run(_values, { env }) {
    const shutdown = untilShutdownSignal()
    const manager = openServiceManager(env)
    const config = readConfig(env)
    if (config.roles.includes('http')) await buildWhenOutdated()
    const count = processCount(config, readMachineLimits())
    const serving = count === 1 ? await serveAlone(config) : await serveInProcesses(config, count, shutdown)
    if (typeof serving === 'number') return withStatus(serving)
    await manager.ready(`Serving ${listenersOf(serving)}`, () => serving.isHealthy())
    const failed = await Promise.race([serving.failed, shutdown])
    await manager.stopping('Stopping; work in progress is finished first')
    await serving.stop()
    manager.close()
    return failed === undefined ? null : withStatus(failed)
  },
})

/** Serves in this process. */
async function serveAlone(config: Config): Promise<RunningProcesses> {
  // Not needed by --help, nor where a setting is wrong.
  const { serve } = await import('../main.ts')
  const { http, smtp, stop } = await serve(config)
  return { http, smtp, stop, isHealthy: () => answersHealth(http), failed: new Promise<never>(() => undefined) }
}

function listenersOf({ http, smtp }: Pick<RunningProcesses, 'http' | 'smtp'>): string {
  const listeners = [smtp && `SMTP on ${smtp}`, http && `the API on ${http}`].filter(Boolean)
  return listeners.join(' and ') || 'the outbox'
}

/** Does our HTTP server answer? A process without one counts as healthy while it runs. */
async function answersHealth(http: string | null): Promise<boolean> {
  return http === null || (await fetch(`${http}/health`)).ok
}

/** The worker that ended has written why. */
function withStatus(status: number) {
  return { text: '', json: null, status }
}
