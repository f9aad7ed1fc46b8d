import type { RunningApp } from '../app/app.ts'
import { readConfig } from '../base/config/config.ts'
import { serve } from '../main.ts'
import { type Command, readArguments } from './command.ts'
import { openServiceManager } from './service-manager.ts'
import { untilShutdownSignal } from './signals.ts'

export const serveCommand: Command = {
  usage: `./mailroom serve

Serves: receives mail by SMTP, answers the HTTP API and relays what is sent, as far as MAILROOM_ROLES says.
Everything is set by MAILROOM_* variables; docs/settings.md lists them. The tables are migrated first.
SIGTERM or Ctrl-C lets what is under way finish, then ends.`,

  async run(args, env) {
    readArguments(args, {})
    const told = untilShutdownSignal()
    const manager = openServiceManager(env)
    const serving = await serve(readConfig(env))
    await manager.ready(`Serving ${listenersOf(serving)}`, () => answersHealth(serving.http))
    await told
    await manager.stopping('Ending; what is under way finishes first')
    await serving.stop()
    manager.close()
    return null
  },
}

function listenersOf({ http, smtp }: RunningApp): string {
  const places = [smtp && `SMTP on ${smtp}`, http && `the API on ${http}`].filter(Boolean)
  return places.join(' and ') || 'the outbox'
}

/** Does our own listener take a connection and answer? Without one, that this runs is all that can be asked. */
async function answersHealth(http: string | null): Promise<boolean> {
  return http === null || (await fetch(`${http}/health`)).ok
}
