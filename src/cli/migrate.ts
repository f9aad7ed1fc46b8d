import { migrate } from '../base/database/migrate.ts'
import { type Command, readArguments, withDatabase } from './command.ts'

export const migrateCommand: Command = {
  usage: `./mailroom migrate [--json]

Brings the tables of MAILROOM_DATABASE_URL up to this version, and says which migrations ran.
It may be run again at any time; serve does it too when it starts.`,

  async run(args, env) {
    readArguments(args, {})
    const migrations = await withDatabase(env, migrate)
    return {
      json: { migrations },
      text: migrations.length === 0 ? 'The tables were up to date.' : `Migrated: ${migrations.join(', ')}`,
    }
  },
}
