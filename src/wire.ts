import type { Config } from './base/config.ts'
import { rememberedDataFolder } from './base/data-folder.ts'
import { openDatabase } from './base/database.ts'
import { watchDiskRoom } from './base/disk-room.ts'
import type { Log } from './base/log.ts'
import type { Secrets } from './base/secrets.ts'
import { openMetricsDoor } from './doors/http/metrics-door.ts'
import { canonicalDomain } from './mail/address.ts'
import { keepReports } from './ports/provider/simulated-telling.ts'
import { withSimulator } from './ports/provider/simulator.ts'
import { openCanary } from './ports/resolver/canary.ts'
import { returnPathsOf } from './sending/reports/return-path.ts'
import { startBackupMetrics } from './wire/backup-metrics.ts'
import { openCertificates } from './wire/certificates.ts'
import { startDoctor } from './wire/doctor.ts'
import { startHttpRole } from './wire/http-role.ts'
import type { Ports } from './wire/real-ports.ts'
import { startRelayRole } from './wire/relay-role.ts'
import type { Shared } from './wire/shared.ts'
import { startSmtpRole } from './wire/smtp-role.ts'

/** A Mailroom that runs in this process. */
export interface Running {
  /** Where the roles listen; null: not a role of this process. */
  readonly http: string | null
  readonly smtp: string | null
  /** Where the API is served by HTTPS, from the first certificate on; null: nowhere. */
  readonly https: string | null
  readonly metrics: string
  /** Takes nothing new, finishes what is under way, and closes everything. */
  stop(): Promise<void>
}

type Ends = (() => unknown)[]

/** Puts the parts together and starts the roles of this process. What it started ends in the opposite order. */
export async function wire(config: Config, log: Log, ports: Ports, secrets: Secrets): Promise<Running> {
  const ends: Ends = []
  const stop = async () => {
    for (let end = ends.pop(); end; end = ends.pop()) await end()
  }
  try {
    if (config.otlpEndpoint !== undefined) ends.push(await openTracing(config, config.otlpEndpoint, log))
    const shared = share(config, log, ports, secrets, ends)
    const metrics = openMetricsDoor(config.metricsListen)
    ends.push(() => metrics.close())
    const isRole = (role: Config['roles'][number]) => config.roles.includes(role)
    startBackupMetrics(shared)
    const certificates = openCertificates(shared)
    const wake = isRole('relay') ? startRelayRole(shared) : () => undefined
    const { http, https } = isRole('http') ? startHttpRole(shared, wake, certificates) : { http: null, https: null }
    const smtp = isRole('smtp') ? await startSmtpRole(shared, certificates) : null
    startDoctor(shared)
    return { http, https, smtp, metrics: `${config.metricsListen.host}:${metrics.port}`, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Loaded where it is wanted alone: it is large. */
async function openTracing(config: Config, endpoint: string, log: Log): Promise<() => Promise<void>> {
  const { startTracing } = await import('./base/otlp.ts')
  return startTracing({ endpoint, samplePercent: config.otlpSamplePercent, host: config.hostname, log })
}

function share(config: Config, log: Log, ports: Ports, secrets: Secrets, ends: Ends): Shared {
  const { clock, scanner, provider: realProvider } = ports
  const open = (pool: string) => {
    const database = openDatabase(config.databaseUrl, config.databaseConnections, pool)
    ends.push(() => database.close())
    return database
  }
  const database = open('beside')
  const { db } = database
  const resolver = ports.resolver({ database })
  const bounces = {
    returnPaths: returnPathsOf(secrets),
    hostname: canonicalDomain(config.hostname) ?? config.hostname,
  }
  const provider = withSimulator(realProvider, { clock, log, keep: keepReports({ db, clock }) })
  ends.push(() => provider.close())
  const databaseFolder = rememberedDataFolder(db, config.databaseUrl)
  const room = watchDiskRoom({
    folders: async () => [config.varFolder, (await databaseFolder()) ?? config.varFolder],
    leastFreeBytes: config.leastFreeBytes,
    log,
  })
  ends.push(() => room.stop())
  return {
    config,
    log,
    clock,
    secrets,
    db,
    resolver,
    canary: openCanary(resolver, config.dnsCanary ?? config.hostname),
    scanner,
    realProvider,
    provider,
    bounces,
    hasRoom: () => room.hasRoom(),
    openPool: pool => open(pool).db,
    atEnd: end => ends.push(end),
  }
}
