import { readConfig } from '../base/config/config.ts'
import { defineCommand } from './command.ts'
import { buildWhenOutdated } from './dashboard/built.ts'
import type { RunningProcesses } from './processes/parent.ts'
import { startServing } from './processes/start-serving.ts'
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
    const serving = await startServing(config, { env, shutdown })
    if (typeof serving === 'number') return withStatus(serving)
    await manager.ready(`Serving ${listenersOf(serving)}`, () => serving.isHealthy())
    const failed = await Promise.race([serving.failed, shutdown])
    await manager.stopping('Stopping; work in progress is finished first')
    await serving.stop()
    manager.close()
    return failed === undefined ? null : withStatus(failed)
  },
})

function listenersOf({ http, smtp }: Pick<RunningProcesses, 'http' | 'smtp'>): string {
  const listeners = [smtp && `SMTP on ${smtp}`, http && `the API on ${http}`].filter(Boolean)
  return listeners.join(' and ') || 'the outbox'
}

/** The worker that ended has written why. */
function withStatus(status: number) {
  return { text: '', json: null, status }
}
