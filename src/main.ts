import { mkdirSync } from 'node:fs'
import { type Ports, realPorts } from './app/adapters.ts'
import { type Running, wire } from './app/app.ts'
import type { Config } from './base/config/config.ts'
import { openDatabase } from './base/database/database.ts'
import { migrate, migrationNames } from './base/database/migrate.ts'
import { newerMigrations } from './base/database/schema-version.ts'
import { type Log, openLog } from './base/observability/log.ts'
import { takeSecrets } from './base/secrets/secret-keys.ts'
import type { Secrets } from './base/secrets/secrets.ts'
import { sealKeys } from './domains/dkim/seal-keys.ts'
import { noticeSwitch } from './domains/recheck/provider-switch.ts'
import { sealCertificateKeys } from './ports/certificates/sealing.ts'
import { oneClickDoubt } from './sending/suppressions/unsubscribe-link.ts'

/**
 * Serves: brings the tables up to this version, seals what is to be sealed, sees which domains the provider does not know,
 * then starts the roles that the configuration names.
 * @throws UnknownSecretKey; when the database cannot be used or an address cannot be listened on.
 */
export async function serve(config: Config): Promise<Running> {
  const log = openLog(config.logLevel, config.logFormat)
  mkdirSync(config.varFolder, { recursive: true })
  const ports = realPorts(config)
  const secrets = await prepareDatabase(config, ports, log)
  const running = await wire(config, log, ports, secrets)
  const { http, https, smtp, metrics } = running
  log.info({ roles: config.roles, http, https: https ?? undefined, smtp, metrics }, 'serving')
  // The sandbox sends to nobody.
  const doubt = http === null || config.provider === 'sandbox' ? null : oneClickDoubt(config.publicUrl)
  if (doubt !== null) log.warn({ public_url: config.publicUrl }, doubt)
  return running
}

async function prepareDatabase(config: Config, { clock, provider }: Ports, log: Log): Promise<Secrets> {
  const { db, close } = openDatabase(config.databaseUrl, 1)
  try {
    const migrated = await migrate(db)
    if (migrated.length > 0) log.info({ migrations: migrated }, 'migrated the database')
    const newer = await newerMigrations(db, migrationNames)
    if (newer.length > 0) log.warn({ migrations: newer }, 'the tables are a newer version’s, which only added to them')
    const secrets = await takeSecrets(db, config, { clock, log })
    await sealCertificateKeys(db, secrets)
    await sealKeys(db, secrets, log)
    if (config.roles.some(role => role !== 'smtp'))
      await noticeSwitch({ db, clock, identities: provider.identities, log })
    return secrets
  } finally {
    await close()
  }
}
