import type { Config } from '../base/config/config.ts'
import { openDatabase } from '../base/database/database.ts'
import { rememberedDataFolder } from '../base/database/mysql-data-dir.ts'
import { watchDiskRoom } from '../base/disk-space.ts'
import type { Log } from '../base/observability/log.ts'
import type { Secrets } from '../base/secrets/secrets.ts'
import { canonicalDomain } from '../mail/address.ts'
import { keepReports } from '../ports/provider/simulator/deliver-reports.ts'
import { withSimulator } from '../ports/provider/simulator/simulator.ts'
import { openCanary } from '../ports/resolver/canary.ts'
import { returnPathsOf } from '../sending/reports/return-path.ts'
import { openMetricsDoor } from '../servers/http/metrics-server.ts'
import type { Ports } from './adapters.ts'
import { startBackupMetrics } from './backup-metrics.ts'
import { openCertificates } from './certificates.ts'
import { startDoctor } from './doctor.ts'
import { startHttpRole } from './http-role.ts'
import { startRelayRole } from './relay-role.ts'
import type { Shared } from './shared.ts'
import { startSmtpRole } from './smtp-role.ts'

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
  const { startTracing } = await import('../base/observability/otlp.ts')
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
