import type { Config } from '../base/config/config.ts'
import { openDatabase } from '../base/database/database.ts'
import { cachedMysqlDataDir } from '../base/database/mysql-data-dir.ts'
import { watchDiskSpace } from '../base/disk-space.ts'
import type { Log } from '../base/observability/log.ts'
import type { Secrets } from '../base/secrets/secrets.ts'
import { canonicalDomain } from '../mail/address.ts'
import { storeReports } from '../ports/provider/simulator/deliver-reports.ts'
import { withSimulator } from '../ports/provider/simulator/simulator.ts'
import { createCanary } from '../ports/resolver/canary.ts'
import { newReturnPaths } from '../sending/reports/return-path.ts'
import { openMetricsServer } from '../servers/http/metrics-server.ts'
import type { Adapters } from './adapters.ts'
import type { AppContext } from './app-context.ts'
import { startBackupMetrics } from './backup-metrics.ts'
import { openCertificates } from './certificates.ts'
import { startDoctor } from './doctor.ts'
import { startHttpRole } from './http-role.ts'
import { startRelayRole } from './relay-role.ts'
import { startSmtpRole } from './smtp-role.ts'

/** A Mailroom that runs in this process. */
export interface RunningApp {
  /** Where the roles listen; null: not a role of this process. */
  readonly http: string | null
  readonly smtp: string | null
  /** Where the API is served by HTTPS, from the first certificate on; null: nowhere. */
  readonly https: string | null
  readonly metrics: string
  /** Takes nothing new, finishes what is under way, and closes everything. */
  stop(): Promise<void>
}

type StopSteps = (() => unknown)[]

/** Puts the parts together and starts the roles of this process. What it started ends in the opposite order. */
export async function startApp(config: Config, log: Log, ports: Adapters, secrets: Secrets): Promise<RunningApp> {
  const ends: StopSteps = []
  const stop = async () => {
    for (let end = ends.pop(); end; end = ends.pop()) await end()
  }
  try {
    if (config.otlpEndpoint !== undefined) ends.push(await startTracingLazily(config, config.otlpEndpoint, log))
    const shared = createContext(config, log, ports, secrets, ends)
    const metrics = openMetricsServer(config.metricsListen)
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
async function startTracingLazily(config: Config, endpoint: string, log: Log): Promise<() => Promise<void>> {
  const { startTracing } = await import('../base/observability/otlp.ts')
  return startTracing({ endpoint, samplePercent: config.otlpSamplePercent, host: config.hostname, log })
}

function createContext(config: Config, log: Log, ports: Adapters, secrets: Secrets, ends: StopSteps): AppContext {
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
    returnPaths: newReturnPaths(secrets),
    hostname: canonicalDomain(config.hostname) ?? config.hostname,
  }
  const provider = withSimulator(realProvider, { clock, log, storeReports: storeReports({ db, clock }) })
  ends.push(() => provider.close())
  const databaseFolder = cachedMysqlDataDir(db, config.databaseUrl)
  const room = watchDiskSpace({
    folders: async () => [config.varFolder, (await databaseFolder()) ?? config.varFolder],
    minFreeBytes: config.leastFreeBytes,
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
    canary: createCanary(resolver, config.dnsCanary ?? config.hostname),
    scanner,
    configuredProvider: realProvider,
    provider,
    bounces,
    hasDiskSpace: () => room.hasSpace(),
    openPool: pool => open(pool).db,
    onStop: end => ends.push(end),
  }
}
