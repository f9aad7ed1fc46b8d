import type { RunningApp } from '../app/app.ts'
import { readConfig } from '../base/config/config.ts'
import { defineCommand } from './command.ts'
import { buildWhenOutdated } from './dashboard/built.ts'
import { openServiceManager } from './service-manager.ts'
import { untilShutdownSignal } from './signals.ts'

export const serveCommand = defineCommand({
  name: 'serve',
  summary: 'Serve in production, with the settings of MAILROOM_* variables',
  details: `Receives mail over SMTP, serves the HTTP API and relays what is sent, according to MAILROOM_ROLES. docs/settings.md lists
all MAILROOM_* variables. The tables are migrated first. SIGTERM or Ctrl-C finishes the work in progress, then stops.`,
  hasJson: false,
  async run(_values, { env }) {
    const shutdown = untilShutdownSignal()
    const manager = openServiceManager(env)
    const config = readConfig(env)
    if (config.roles.includes('http')) await buildWhenOutdated()
    // Not needed by --help, nor where a setting is wrong.
    const { serve } = await import('../main.ts')
    const app = await serve(config)
    await manager.ready(`Serving ${listenersOf(app)}`, () => answersHealth(app.http))
    await shutdown
    await manager.stopping('Stopping; work in progress is finished first')
    await app.stop()
    manager.close()
    return null
  },
})

function listenersOf({ http, smtp }: RunningApp): string {
  const listeners = [smtp && `SMTP on ${smtp}`, http && `the API on ${http}`].filter(Boolean)
  return listeners.join(' and ') || 'the outbox'
}

/** Does our HTTP server answer? A process without one counts as healthy while it runs. */
async function answersHealth(http: string | null): Promise<boolean> {
  return http === null || (await fetch(`${http}/health`)).ok
}
