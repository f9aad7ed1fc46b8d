import type { Config } from './base/config.ts'
import { openDatabase } from './base/database.ts'
import type { Log } from './base/log.ts'
import type { Secrets } from './base/secrets.ts'
import { openMetricsDoor } from './doors/http/metrics-door.ts'
import { canonicalDomain } from './mail/address.ts'
import { withSimulator } from './ports/provider/simulator.ts'
import { openCanary } from './ports/resolver/canary.ts'
import { simulatedReportTaker } from './receiving/simulated-report.ts'
import { recordNews } from './sending/reports/news.ts'
import { returnPathsOf } from './sending/reports/return-path.ts'
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
    const shared = share(config, log, ports, secrets, ends)
    const metrics = openMetricsDoor(config.metricsListen)
    ends.push(() => metrics.close())
    const isRole = (role: Config['roles'][number]) => config.roles.includes(role)
    const wake = isRole('relay') ? startRelayRole(shared) : () => undefined
    const http = isRole('http') ? startHttpRole(shared, wake) : null
    const smtp = isRole('smtp') ? await startSmtpRole(shared) : null
    return { http, smtp, metrics: `${config.metricsListen.host}:${metrics.port}`, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function share(config: Config, log: Log, ports: Ports, secrets: Secrets, ends: Ends): Shared {
  const { clock, scanner, provider: realProvider } = ports
  const open = () => {
    const database = openDatabase(config.databaseUrl, config.databaseConnections)
    ends.push(() => database.close())
    return database
  }
  const database = open()
  const { db } = database
  const resolver = ports.resolver({ database })
  const bounces = {
    returnPaths: returnPathsOf(secrets),
    hostname: canonicalDomain(config.hostname) ?? config.hostname,
  }
  const provider = withSimulator(realProvider, {
    clock,
    log,
    takeMail: simulatedReportTaker({ db, clock, log, bounces }),
    takeNews: news => recordNews({ db, clock }, 'simulator', news),
  })
  ends.push(() => provider.close())
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
    openPool: () => open().db,
    atEnd: end => ends.push(end),
  }
}
