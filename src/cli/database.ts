import { type Config, readConfig } from '../base/config/config.ts'
import { type Db, openDatabase } from '../base/database/database.ts'
import type { Environment } from './command.ts'

/** What `--help` says of a command that uses the database. */
export const databaseNote = 'The database is the one that MAILROOM_DATABASE_URL names.'

/** The configuration for a command. What only a relay needs, such as a smarthost, may be missing. @throws ConfigError */
export function readCommandConfig(env: Environment): Config {
  return readConfig({ ...env, MAILROOM_ROLES: 'http' })
}

/** Opens the database that the environment names, runs `work` on it and closes it. */
export async function withDatabase<Result>(env: Environment, work: (db: Db) => Promise<Result>): Promise<Result> {
  const { db, close } = openDatabase(readCommandConfig(env).databaseUrl, 2)
  try {
    return await work(db)
  } finally {
    await close()
  }
}
