import { setTimeout as sleep } from 'node:timers/promises'
import { minuteMs } from '../../base/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import { counter, gauge } from '../../base/observability/metrics.ts'
import type { Environment } from '../command.ts'
import { newCountedRequestsSum } from './counted-requests.ts'
import { addCounts, type LabelledMetrics } from './merge-metrics.ts'
import type { ProcessMetrics, SharedPorts, WorkerListeners } from './messages.ts'
import { type WatchTimes, watchWorker } from './watch-worker.ts'
import { startWorker, type WorkerProcess } from './worker-process.ts'

const processUp = gauge('mailroom_process_up', '1 while a process serves; else 0.', ['process'])
const restarts = counter('mailroom_process_restarts_total', 'Processes that died and were started again.', ['process'])

const hung = counter('mailroom_process_hung_total', 'Processes that were ended because they did not respond.', [
  'process',
])

/** When workers are started again, in milliseconds. */
export interface SupervisorTimes extends WatchTimes {
  /** The wait before a dead worker is started again: doubles with each time in a row. */
  readonly firstRestartMs: number
  readonly maxRestartMs: number
  /** A worker that served for so long is not counted as one of a row that dies. */
  readonly steadyMs: number
}

const defaultTimes: SupervisorTimes = {
  firstRestartMs: 500,
  maxRestartMs: 30_000,
  steadyMs: minuteMs,
  lookMs: 5000,
  hungMs: 30_000,
}

/** After so many starts of one worker in a row that failed, all ends: an operator or the service manager has to know. */
const maxFailedStarts = 8

/** Keeps a number of workers running. */
export interface Supervisor {
  /** Starts the first worker, which prepares the database, and then the others. Gives where they listen; null: one ended. */
  start(): Promise<WorkerListeners | null>
  /** Resolves to the exit status of a worker that could not be started, for the parent to end with. Never after a stop. */
  readonly failed: Promise<number>
  /** Do all workers that serve respond, and does at least one serve? */
  isHealthy(): Promise<boolean>
  /** The metrics of all workers that respond, and what those that ended had counted. */
  collectMetrics(): Promise<readonly LabelledMetrics[]>
  /** Workers that end from now on are not started again. */
  beginStop(): void
  /** Lets all workers finish their work in progress; resolves once they have ended. */
  stop(): Promise<void>
  /** Ends all of them at once. */
  kill(): void
}

/** How long a worker may take to answer, in milliseconds. */
const responseMs = 2000

interface SupervisorOptions {
  /** At least 1. */
  readonly count: number
  readonly env: Environment
  readonly log: Log
  readonly times?: SupervisorTimes
}

export function newSupervisor({ count, env, log, times = defaultTimes }: SupervisorOptions): Supervisor {
  const workers = new Map<number, WorkerProcess>()
  const starting = new AbortController()
  const failed = Promise.withResolvers<number>()
  const countedRequests = newCountedRequestsSum()
  const lastMetrics = new Map<number, ProcessMetrics>()
  let metricsOfEnded: ProcessMetrics = []
  let ports: SharedPorts = {}
  const isStopping = () => starting.signal.aborted

  /** Gives where it listens; null: it ended before it served. */
  async function run(number: number): Promise<WorkerListeners | null> {
    const worker = startWorker(
      { number, count, ports },
      {
        env,
        onServing() {
          const counted = countedRequests.sum()
          if (counted) worker.countRequests(counted)
        },
        onWakeRelay: () => workers.get(1)?.wakeRelay(),
        onCountedRequests(counted) {
          countedRequests.add(counted)
          for (const other of workers.values()) if (other !== worker && other.isServing()) other.countRequests(counted)
        },
      },
    )
    workers.set(number, worker)
    void endWhenHung(worker)
    const listeners = await worker.serving
    if (listeners) processUp.set({ process: String(number) }, 1)
    return listeners
  }

  /** Also while it starts, and while it finishes its work. */
  async function endWhenHung(worker: WorkerProcess): Promise<void> {
    const seen = await watchWorker(worker, times)
    if (!seen) return
    hung.inc({ process: String(worker.number) })
    log.error({ process: worker.number, process_pid: worker.pid, ...seen }, 'a process did not respond and was killed')
    worker.kill()
  }

  /** Starts a worker again whenever it has ended. */
  async function keepRunning(number: number): Promise<void> {
    let failedStarts = 0
    let deaths = 0
    for (let servesSince = performance.now(); !isStopping(); ) {
      const worker = workers.get(number)
      const status = (await worker?.ended) ?? 1
      processUp.set({ process: String(number) }, 0)
      metricsOfEnded = await addCounts(metricsOfEnded, takeMetrics(number))
      if (isStopping()) return
      const hasServed = (await worker?.serving) !== null
      failedStarts = hasServed ? 0 : failedStarts + 1
      deaths = hasServed && performance.now() - servesSince >= times.steadyMs ? 1 : deaths + 1
      const waitMs = Math.min(times.maxRestartMs, times.firstRestartMs * 2 ** (deaths - 1))
      const fields = { process: number, process_pid: worker?.pid, status, wait_ms: waitMs }
      if (failedStarts >= maxFailedStarts) {
        log.error(fields, 'a process could not be started again: all processes end')
        return failed.resolve(exitStatus(status))
      }
      log.error(fields, 'a process died: it is started again')
      await sleep(waitMs, undefined, { signal: starting.signal }).catch(() => undefined)
      if (isStopping()) return
      restarts.inc({ process: String(number) })
      servesSince = performance.now()
      if (await run(number))
        log.info({ process: number, process_pid: workers.get(number)?.pid }, 'a process serves again')
    }
  }

  function takeMetrics(number: number): ProcessMetrics {
    const metrics = lastMetrics.get(number) ?? []
    lastMetrics.delete(number)
    return metrics
  }

  /** Starts a worker for the first time. */
  async function begin(number: number): Promise<WorkerListeners | null> {
    const listeners = await run(number)
    if (listeners) void keepRunning(number)
    else failed.resolve(exitStatus((await workers.get(number)?.ended) ?? 1))
    return listeners
  }

  return {
    async start() {
      const listeners = await begin(1)
      if (!listeners) return null
      ports = portsOf(listeners)
      const others = await Promise.all(Array.from({ length: count - 1 }, (_, i) => begin(i + 2)))
      return others.every(other => other !== null) ? listeners : null
    },
    failed: failed.promise,
    async isHealthy() {
      const serving = [...workers.values()].filter(worker => worker.isServing())
      const responses = await Promise.all(serving.map(worker => worker.ping(responseMs)))
      return responses.length > 0 && responses.every(responds => responds)
    },
    async collectMetrics() {
      const collected = await Promise.all(
        Array.from(workers.values(), async worker => {
          const metrics = worker.isServing() ? await worker.collectMetrics(responseMs) : null
          if (metrics && worker.isServing()) lastMetrics.set(worker.number, metrics)
          return { process: String(worker.number), metrics: metrics ?? lastMetrics.get(worker.number) ?? [] }
        }),
      )
      return [...collected, { process: '', metrics: metricsOfEnded }]
    },
    beginStop: () => starting.abort(),
    async stop() {
      starting.abort()
      for (const worker of workers.values()) worker.stop()
      await Promise.all(Array.from(workers.values(), worker => worker.ended))
    },
    kill: () => {
      for (const worker of workers.values()) worker.kill()
    },
  }
}

function exitStatus(status: number | NodeJS.Signals): number {
  return typeof status === 'number' && status !== 0 ? status : 1
}

/** The ports that the first worker has taken. Those of HTTP and HTTPS are not shown where they are the standard ones. */
function portsOf(listeners: WorkerListeners): SharedPorts {
  const taken = Object.entries(listeners).map(([name, address]) => [name, Number(/:(\d+)$/.exec(address ?? '')?.[1])])
  return Object.fromEntries(taken.filter(([, port]) => Number(port) > 0))
}
