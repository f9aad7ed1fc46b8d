import { migrate } from '../base/database/migrate.ts'
import { defineCommand } from './command.ts'
import { withDatabase } from './database.ts'

export const migrateCommand = defineCommand({
  name: 'migrate',
  summary: 'Bring the tables of the database up to this version',
  details: `Prints the migrations that ran on the database of MAILROOM_DATABASE_URL. It can be run again at any time; serve also
does it when it starts.`,
  async run(_values, { env }) {
    const migrations = await withDatabase(env, migrate)
    return {
      json: { migrations },
      text: migrations.length === 0 ? 'The tables were up to date.' : `Ran the migrations ${migrations.join(', ')}.`,
    }
  },
})
