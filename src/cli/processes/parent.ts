import { createServer } from 'node:net'
import type { Config, Endpoint } from '../../base/config/config.ts'
import { type Log, openLog } from '../../base/observability/log.ts'
import { registry } from '../../base/observability/metrics.ts'
import { openMetricsServer } from '../../servers/http/metrics-server.ts'
import type { Environment } from '../command.ts'
import { mergeMetrics } from './merge-metrics.ts'
import type { WorkerListeners } from './messages.ts'
import { newSupervisor, type Supervisor, type SupervisorTimes } from './supervisor.ts'

/** What serves, in this process or in several on the same ports. */
export interface RunningProcesses {
  readonly http: string | null
  readonly smtp: string | null
  readonly submission: string | null
  /** For the watchdog of the service manager, which ends all of it where this is false for long. */
  isHealthy(): Promise<boolean>
  /** Resolves to the exit status where one of them cannot be started again. */
  readonly failed: Promise<number>
  /** Lets all of them finish their work in progress; resolves once they have ended. */
  stop(): Promise<void>
}

export interface ServingOptions {
  /** The variables that the configuration was read from, for the workers to read it again. */
  readonly env: Environment
  /** Resolves when the instance is to stop: a worker that ends from then on is not started again. */
  readonly shutdown: Promise<void>
  /** Others in tests only. */
  readonly times?: SupervisorTimes
}

/**
 * Serves in `count` workers that share the listening ports, started again when they die; this process only looks after them.
 * The first prepares the database before the others start. Gives the exit status where one cannot start; it has written why.
 * @throws when a port is in use
 */
export async function serveInProcesses(
  config: Config,
  count: number,
  { env, shutdown, times }: ServingOptions,
): Promise<RunningProcesses | number> {
  const log = openLog(config.logLevel, config.logFormat, process.pid)
  await requireFreePorts(config)
  const supervisor = newSupervisor({ count, env, log, ...(times && { times }) })
  process.on('exit', () => supervisor.kill())
  void shutdown.then(() => supervisor.beginStop())
  const metrics = openMetricsServer(config.metricsListen, {
    collect: () => collectAll(supervisor),
    isHealthy: () => supervisor.isHealthy(),
  })
  const listeners = await supervisor.start()
  if (!listeners) {
    const status = await supervisor.failed
    await supervisor.stop()
    await metrics.close()
    return status
  }
  logServing(log, config, count, listeners, metrics.port)
  return {
    http: listeners.http,
    smtp: listeners.smtp,
    submission: listeners.submission,
    // Of this process: a worker that hangs is ended and started again alone.
    isHealthy: () => Promise.resolve(true),
    failed: supervisor.failed,
    async stop() {
      await supervisor.stop()
      await metrics.close()
    },
  }
}

function logServing(log: Log, config: Config, count: number, listeners: WorkerListeners, metricsPort: number): void {
  const present = Object.fromEntries(Object.entries(listeners).filter(([, address]) => address !== null))
  const metrics = `${config.metricsListen.host}:${metricsPort}`
  log.info({ roles: config.roles, processes: count, http: null, smtp: null, ...present, metrics }, 'serving')
}

async function collectAll(supervisor: Supervisor): Promise<string> {
  const ofWorkers = await supervisor.collectMetrics()
  return await mergeMetrics([{ process: 'parent', metrics: await registry.getMetricsAsJSON() }, ...ofWorkers])
}

/** Workers share their ports with any program of the same user, so that another one that listens there must be found before. */
async function requireFreePorts(config: Config): Promise<void> {
  const { roles } = config
  const listens: (Endpoint | undefined)[] = [
    ...(roles.includes('smtp') ? [config.smtpListen] : []),
    ...(roles.includes('http') ? [config.httpListen, config.httpsListen] : []),
    ...(roles.includes('submission') ? [config.submissionListen, config.submissionsListen] : []),
  ]
  for (const listen of listens) if (listen) await requireFreePort(listen)
}

function requireFreePort({ host, port }: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()))
  })
}
