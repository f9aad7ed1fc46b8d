import { collectDefaultMetrics } from 'prom-client'
import type { Endpoint } from '../../base/config/config.ts'
import { gauge, registry } from '../../base/observability/metrics.ts'
import { version } from '../../base/version.ts'

gauge('mailroom_build_info', '1, labelled with the running version.', ['version', 'bun'], { ofProcesses: 'max' }).set(
  { version, bun: Bun.version },
  1,
)

export interface MetricsSource {
  /** The metrics, in the text format of Prometheus. */
  collect(): Promise<string>
  /** Does all that serves respond? */
  isHealthy(): Promise<boolean>
}

const ownMetrics: MetricsSource = { collect: () => registry.metrics(), isHealthy: async () => true }

/** The delay of the event loop is measured so often. The default of 10 ms wakes a process that has nothing to do as often. */
const eventLoopDelayEveryMs = 100

/** Adds the metrics of this process itself: CPU time, memory, event loop, garbage collection. */
export function collectProcessMetrics(): void {
  if (!registry.getSingleMetric('process_cpu_user_seconds_total'))
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopDelayEveryMs })
}

/**
 * Serves `/metrics` for Prometheus, and `/health`, on a listener of its own, which is to be kept private.
 * @param source of what it serves; without it, this process
 */
export function openMetricsServer(
  listen: Endpoint,
  source = ownMetrics,
): { readonly port: number; close(): Promise<void> } {
  collectProcessMetrics()
  const server = Bun.serve({
    hostname: listen.host,
    port: listen.port,
    development: false,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/health') return healthResponse(await source.isHealthy())
      if (pathname !== '/metrics') return new Response('Not found\n', { status: 404 })
      return new Response(await source.collect(), { headers: { 'content-type': registry.contentType } })
    },
  })
  return { port: server.port ?? listen.port, close: () => server.stop(true) }
}

function healthResponse(isHealthy: boolean): Response {
  return isHealthy ? new Response('ok\n') : new Response('A process does not respond\n', { status: 503 })
}
