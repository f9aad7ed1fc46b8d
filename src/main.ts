import { mkdirSync } from 'node:fs'
import { type Adapters, createAdapters } from './app/adapters.ts'
import { type RunningApp, startApp } from './app/app.ts'
import type { ProcessShare } from './app/app-context.ts'
import type { Config } from './base/config/config.ts'
import { openDatabase } from './base/database/database.ts'
import { migrate, migrationNames } from './base/database/migrate.ts'
import { newerMigrations } from './base/database/schema-version.ts'
import { type Log, openLog } from './base/observability/log.ts'
import { loadOrCreateSecrets, loadSecrets } from './base/secrets/secret-keys.ts'
import type { Secrets } from './base/secrets/secrets.ts'
import { resealDkimKeys } from './domains/dkim/seal-keys.ts'
import { suspendUnenrolledDomains } from './domains/recheck/provider-switch.ts'
import { resealWebhooks } from './events/webhooks/reseal.ts'
import { sealCertificateKeys } from './ports/certificates/acme/sealing.ts'
import { oneClickWarning } from './sending/suppressions/unsubscribe-link.ts'

/**
 * Serves in this process alone: migrates the database, encrypts stored keys with the present secret key, suspends domains that
 * the provider does not know, then starts the roles and background jobs.
 * @throws UnknownSecretKeyError, and when the database cannot be used or an address cannot be listened on
 */
export async function serve(config: Config): Promise<RunningApp> {
  const log = openLog(config.logLevel, config.logFormat)
  mkdirSync(config.varFolder, { recursive: true })
  const adapters = createAdapters(config)
  const secrets = await prepareDatabase(config, adapters, log)
  const app = await startApp(config, log, adapters, secrets)
  log.info({ roles: config.roles, ...listenersOf(app) }, 'serving')
  warnOfUnsubscribe(config, app.http, log)
  return app
}

/**
 * Serves in one of several processes that share their ports. The first prepares the database, so that no other may start before
 * it serves.
 */
export async function serveShare(config: Config, share: ProcessShare): Promise<RunningApp> {
  const log = openLog(config.logLevel, config.logFormat, process.pid)
  mkdirSync(config.varFolder, { recursive: true })
  const adapters = createAdapters(config)
  const secrets = share.runsJobs ? await prepareDatabase(config, adapters, log) : await loadPreparedSecrets(config)
  const app = await startApp(config, log, adapters, secrets, share)
  log.info({ roles: config.roles }, 'process started')
  if (share.runsJobs) warnOfUnsubscribe(config, app.http, log)
  return app
}

/** Where an app listens, as in its log line. */
type Listeners = Partial<Record<'http' | 'https' | 'smtp' | 'submission' | 'submissions' | 'metrics', string | null>>

function listenersOf({ http, https, smtp, submission, submissions, metrics }: RunningApp): Listeners {
  return {
    http,
    ...(https !== null && { https }),
    smtp,
    ...(submission !== null && { submission }),
    ...(submissions !== null && { submissions }),
    metrics,
  }
}

function warnOfUnsubscribe({ provider, publicUrl }: Config, http: string | null, log: Log): void {
  // The sandbox delivers to nobody, so there are no mail programs to unsubscribe with.
  const warning = http === null || provider === 'sandbox' ? null : oneClickWarning(publicUrl)
  if (warning !== null) log.warn({ public_url: publicUrl }, warning)
}

async function loadPreparedSecrets(config: Config): Promise<Secrets> {
  const { db, close } = openDatabase(config.databaseUrl, 1)
  try {
    return await loadSecrets(db, config)
  } finally {
    await close()
  }
}

async function prepareDatabase(config: Config, { clock, provider }: Adapters, log: Log): Promise<Secrets> {
  const { db, close } = openDatabase(config.databaseUrl, 1)
  try {
    const migrated = await migrate(db)
    if (migrated.length > 0) log.info({ migrations: migrated }, 'migrated the database')
    const newer = await newerMigrations(db, migrationNames)
    if (newer.length > 0)
      log.warn(
        { migrations: newer },
        'a newer version has migrated the database, in a way that this version works with',
      )
    const secrets = await loadOrCreateSecrets(db, config, { clock, log })
    await sealCertificateKeys(db, secrets)
    await resealWebhooks(db, secrets)
    await resealDkimKeys(db, secrets, log)
    if (config.roles.some(role => role !== 'smtp'))
      await suspendUnenrolledDomains({ db, clock, identities: provider.identities, log })
    return secrets
  } finally {
    await close()
  }
}
