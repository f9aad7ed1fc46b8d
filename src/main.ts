import { mkdirSync } from 'node:fs'
import type { Clock } from './base/clock.ts'
import type { Config } from './base/config.ts'
import { openDatabase } from './base/database.ts'
import { type Log, openLog } from './base/log.ts'
import { migrate } from './base/migrate.ts'
import { takeSecrets } from './base/secret-keys.ts'
import type { Secrets } from './base/secrets.ts'
import { sealKeys } from './domains/seal-keys.ts'
import { realPorts } from './wire/real-ports.ts'
import { type Running, wire } from './wire.ts'

/**
 * Serves: brings the tables up to this version, seals what is to be sealed, then starts the roles that the configuration
 * names.
 * @throws UnknownSecretKey; when the database cannot be used or an address cannot be listened on.
 */
export async function serve(config: Config): Promise<Running> {
  const log = openLog(config.logLevel)
  mkdirSync(config.varFolder, { recursive: true })
  const ports = realPorts(config)
  const secrets = await prepareDatabase(config, ports.clock, log)
  const running = await wire(config, log, ports, secrets)
  const { http, smtp, metrics } = running
  log.info({ roles: config.roles, http, smtp, metrics }, 'serving')
  return running
}

async function prepareDatabase(config: Config, clock: Clock, log: Log): Promise<Secrets> {
  const { db, close } = openDatabase(config.databaseUrl, 1)
  try {
    const migrated = await migrate(db)
    if (migrated.length > 0) log.info({ migrations: migrated }, 'migrated the database')
    const secrets = await takeSecrets(db, config, { clock, log })
    await sealKeys(db, secrets, log)
    return secrets
  } finally {
    await close()
  }
}
