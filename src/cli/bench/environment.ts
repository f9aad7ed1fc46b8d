import { join } from 'node:path'
import { sql } from 'kysely'
import { createKey } from '../../accounts/keys/keys.ts'
import { createOrganization } from '../../accounts/organizations/organizations.ts'
import { systemClock } from '../../base/clock.ts'
import { type ClamdAddress, readConfig } from '../../base/config/config.ts'
import { openDatabase } from '../../base/database/database.ts'
import { migrate } from '../../base/database/migrate.ts'
import { createDemo, demoDomain } from '../demo.ts'
import { defaultScopes } from '../key.ts'
import { installedSignatures, startClamd } from '../private/clamd.ts'
import { startMariadb } from '../private/mariadb.ts'
import type { SerializedSender } from './child-process.ts'
import { openDns } from './dns.ts'
import { newBenchSender } from './messages.ts'
import { startMailroom } from './processes.ts'

/** What every measurement uses: private servers, an organization, a domain that sends and receives, a sender. */
export interface BenchEnvironment {
  readonly folder: string
  /** The settings of a Mailroom on these servers. */
  readonly env: Readonly<Record<string, string>>
  readonly databaseUrl: string
  readonly clamd: ClamdAddress
  /** The processes of the servers. */
  readonly pids: { readonly MariaDB: number; readonly clamd: number }
  readonly key: string
  readonly domain: string
  readonly mailbox: string
  readonly sender: ReturnType<typeof newBenchSender>
  readonly serializedSender: SerializedSender
  countMessages(): Promise<number>
  clearOutbox(): Promise<void>
  untilOutboxEmpty(): Promise<void>
  close(): Promise<void>
}

export async function openBenchEnvironment(folder: string): Promise<BenchEnvironment> {
  const sender = newBenchSender('sender.example')
  const dns = await openDns(sender.records)
  const mariadb = await startMariadb({ folder: join(folder, 'mariadb'), forMeasuring: true })
  const clamd = await startClamd({ folder: join(folder, 'clamd'), forMeasuring: true, ...installedSignatures() })
  const env = {
    MAILROOM_DATABASE_URL: mariadb.url,
    MAILROOM_CLAMD: clamd.address,
    MAILROOM_RESOLVERS: `127.0.0.1:${dns.port}`,
    MAILROOM_DNS_ZONE: 'local',
    MAILROOM_PROVIDER: 'sandbox',
    MAILROOM_HOSTNAME: `mail.${demoDomain}`,
    MAILROOM_HTTP_LISTEN: '127.0.0.1:0',
    MAILROOM_SMTP_LISTEN: '127.0.0.1:0',
    MAILROOM_METRICS_LISTEN: '127.0.0.1:0',
    MAILROOM_VAR: join(folder, 'var'),
    MAILROOM_RATE_LIMIT_PER_MINUTE: '1000000000',
    MAILROOM_PROCESSES: '1',
  }
  const { db, close } = openDatabase(mariadb.url, 2)
  await migrate(db)
  const organization = await createOrganization(db, { name: 'bench', plan: 'unlimited' }, systemClock)
  const request = {
    organizationId: organization.id,
    brandId: null,
    name: 'bench',
    scopes: defaultScopes,
    expiresAt: null,
  }
  const { key } = await createKey(db, request, systemClock)
  const mailroom = await startMailroom({ ...env, MAILROOM_ROLES: 'http' })
  await createDemo({ base: `http://127.0.0.1:${mailroom.http}`, key }, db)
  await mailroom.stop()
  const count = async (table: 'messages' | 'outbox') => {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db)
    return Number(rows[0]?.count ?? 0)
  }
  const { privateKey, ...publicParts } = sender
  return {
    folder,
    env,
    databaseUrl: mariadb.url,
    clamd: readConfig(env).clamd,
    pids: { MariaDB: mariadb.pid, clamd: clamd.pid },
    key,
    domain: demoDomain,
    mailbox: `hello@${demoDomain}`,
    sender,
    serializedSender: { ...publicParts, privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() },
    countMessages: () => count('messages'),
    async clearOutbox() {
      await db.deleteFrom('outbox').execute()
    },
    async untilOutboxEmpty() {
      for (const deadline = Date.now() + 120_000; (await count('outbox')) > 0; await Bun.sleep(100))
        if (Date.now() > deadline) throw new Error('the outbox did not become empty within two minutes')
    },
    async close() {
      await close()
      dns.close()
      await clamd.stop()
      await mariadb.stop()
    },
  }
}
