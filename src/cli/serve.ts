import { readConfig } from '../base/config.ts'
import { serve } from '../main.ts'
import { type Command, readArgs } from './command.ts'
import { untilToldToEnd } from './signals.ts'

export const serveAll: Command = {
  usage: `./mailroom serve

Serves: receives mail by SMTP, answers the HTTP API and relays what is sent, as far as MAILROOM_ROLES says.
Everything is set by MAILROOM_* variables; the README has them in a table. The tables are migrated first.
SIGTERM or Ctrl-C lets what is under way finish, then ends.`,

  async run(args, env) {
    readArgs(args, {})
    const told = untilToldToEnd()
    const serving = await serve(readConfig(env))
    await told
    await serving.stop()
    return null
  },
}
