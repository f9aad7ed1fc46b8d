import type { Config } from '../base/config/config.ts'
import { cachedMysqlDataDir } from '../base/database/mysql-data-dir.ts'
import { openDiskSpaceMonitor } from '../base/disk-space.ts'
import type { Log } from '../base/observability/log.ts'
import type { Secrets } from '../base/secrets/secrets.ts'
import { watchSequence } from '../events/sequence-watch.ts'
import { startSequencer } from '../events/sequencer.ts'
import { newLatestResults } from '../health/doctor/results/latest-results.ts'
import { canonicalDomain } from '../mail/address.ts'
import { storeReports } from '../ports/provider/simulator/deliver-reports.ts'
import { withSimulator } from '../ports/provider/simulator/simulator.ts'
import { createCanary } from '../ports/resolver/canary.ts'
import { newReturnPaths } from '../sending/reports/return-path.ts'
import { collectProcessMetrics, openMetricsServer } from '../servers/http/metrics-server.ts'
import { openClientLimits } from '../servers/limits/client-limits.ts'
import type { Adapters } from './adapters.ts'
import type { AppContext, ProcessShare, Role } from './app-context.ts'
import { openCertificates } from './certificates.ts'
import { startHttpRole } from './http-role.ts'
import { startJobs } from './jobs/job.ts'
import { jobs } from './jobs/jobs.ts'
import { openPools, type Pools } from './pools.ts'
import { startRelayRole } from './relay-role.ts'
import { newShutdown } from './shutdown.ts'
import { startSmtpRole } from './smtp-role.ts'
import { startSubmissionRole } from './submission-role.ts'
import { startWebhooksRole } from './webhooks-role.ts'

/** A Mailroom that runs in this process. */
export interface RunningApp {
  /** `host:port` of SMTP and URL of the API; null: not a role of this process. */
  readonly smtp: string | null
  readonly http: string | null
  /** `host:port` of mail submission with STARTTLS, and with TLS from the first byte; null: it is off. */
  readonly submission: string | null
  readonly submissions: string | null
  /** URL of the API with TLS, which is served from the first certificate on; null: MAILROOM_HTTPS_LISTEN is not set. */
  readonly https: string | null
  /** `host:port` of the metrics; null: the parent of this process serves them. */
  readonly metrics: string | null
  /** Tells the relay of this process, where it has one, that an email may be due. */
  wakeRelay(): void
  /** Accepts nothing new, finishes what is in progress, and closes everything. */
  stop(): Promise<void>
}

/** The share of a process that is the only one of its `serve`. */
export function wholeShare(config: Config): ProcessShare {
  return { runsJobs: true, sharesPorts: false, instanceConfig: config, wakeOtherRelay: () => undefined }
}

/** Connects the adapters and the features, and starts the roles and the background jobs of this process. */
export async function startApp(
  config: Config,
  log: Log,
  adapters: Adapters,
  secrets: Secrets,
  share = wholeShare(config),
): Promise<RunningApp> {
  const shutdown = newShutdown(log)
  try {
    if (config.otlpEndpoint !== undefined) shutdown.onStop(await startTracing(config, config.otlpEndpoint, log))
    const { onDrain, onStop } = shutdown
    const pools = openPools(config, shutdown)
    const context = createContext({ config, share, log, adapters, secrets, pools, onDrain, onStop })
    const metrics = share.sharesPorts ? collectForParent() : startMetricsServer(context)
    const certificates = openCertificates(context)
    startJobs(jobs.everyProcess, context)
    runSequencer(context)
    const isRole = (role: Role) => config.roles.includes(role)
    const wakeRelay = isRole('relay') ? startRelayRole(context) : share.wakeOtherRelay
    const httpRole = isRole('http') ? startHttpRole(context, wakeRelay, certificates) : null
    if (isRole('webhooks')) startWebhooksRole(context, wakeRelay)
    const smtp = isRole('smtp') ? await startSmtpRole(context, certificates) : null
    const submission = isRole('submission')
      ? await startSubmissionRole(context, { certificates, wakeRelay, sending: httpRole?.sending })
      : { submission: null, submissions: null }
    const { http = null, https = null } = httpRole ?? {}
    return {
      http,
      https,
      smtp,
      ...submission,
      metrics,
      wakeRelay,
      stop: shutdown.run,
    }
  } catch (error) {
    await shutdown.run()
    throw error
  }
}

/** `host:port` */
function startMetricsServer({ config, onStop }: AppContext): string {
  const { host } = config.metricsListen
  const server = openMetricsServer(config.metricsListen)
  onStop(() => server.close())
  return `${host}:${server.port}`
}

function collectForParent(): null {
  collectProcessMetrics()
  return null
}

/** It goes on until all that may write events has ended. */
function runSequencer({ db, log, sequenceWatch, onStop }: AppContext): void {
  const sequencer = startSequencer({ db, log, onNumbered: sequenceWatch.poll })
  onStop(() => sequencer.stop())
}

/** Imported only where it is configured, since OpenTelemetry is large. */
async function startTracing(config: Config, endpoint: string, log: Log): Promise<() => Promise<void>> {
  const otlp = await import('../base/observability/otlp.ts')
  return otlp.startTracing({ endpoint, samplePercent: config.otlpSamplePercent, host: config.hostname, log })
}

interface ContextDeps extends Pick<AppContext, 'config' | 'share' | 'log' | 'secrets' | 'onDrain' | 'onStop'> {
  readonly adapters: Adapters
  readonly pools: Pools
}

function createContext({ config, share, log, adapters, secrets, pools, onDrain, onStop }: ContextDeps): AppContext {
  const { clock, scanner, spamFilter, provider: configuredProvider } = adapters
  const database = pools.open('beside', 'background')
  const { db } = database
  const resolver = adapters.resolver({ database })
  const provider = withSimulator(configuredProvider, { clock, log, storeReports: storeReports({ db, clock }) })
  onStop(() => provider.close())
  const mysqlDataDir = cachedMysqlDataDir(db, config.databaseUrl)
  const sequenceWatch = watchSequence({ db, log })
  onStop(() => sequenceWatch.close())
  return {
    config,
    share,
    log,
    clock,
    secrets,
    db,
    resolver,
    canary: createCanary(resolver, config.dnsCanary ?? config.hostname),
    scanner,
    spamFilter,
    configuredProvider,
    provider,
    bounces: {
      returnPaths: newReturnPaths(secrets),
      hostname: canonicalDomain(config.hostname) ?? config.hostname,
    },
    sequenceWatch,
    diskSpace: openDiskSpaceMonitor({
      folders: async () => [config.varFolder, (await mysqlDataDir()) ?? config.varFolder],
      minFreeBytes: config.leastFreeBytes,
      log,
    }),
    clientLimits: openClientLimits(config, clock, share.requestCounts),
    relayStatus: { findOpenBreaker: () => null },
    doctorResults: newLatestResults(),
    openPool: role => pools.open(role, 'request').db,
    onDrain,
    onStop,
  }
}
