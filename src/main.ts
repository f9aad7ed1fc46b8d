import { mkdirSync } from 'node:fs'
import type { Config } from './base/config.ts'
import { openDatabase } from './base/database.ts'
import { openLog } from './base/log.ts'
import { migrate } from './base/migrate.ts'
import { type Running, realPorts, wire } from './wire.ts'

/**
 * Serves: brings the tables up to this version, then starts the roles that the configuration names.
 * @throws when the database cannot be used or an address cannot be listened on.
 */
export async function serve(config: Config): Promise<Running> {
  const log = openLog(config.logLevel)
  mkdirSync(config.varFolder, { recursive: true })
  const { db, close } = openDatabase(config.databaseUrl, 1)
  const migrated = await migrate(db).finally(close)
  if (migrated.length > 0) log.info({ migrations: migrated }, 'migrated the database')
  const running = await wire(config, log, realPorts(config))
  const { http, smtp, metrics } = running
  log.info({ roles: config.roles, http, smtp, metrics }, 'serving')
  return running
}
