import { collectDefaultMetrics } from 'prom-client'
import type { Endpoint } from '../../base/config/config.ts'
import { gauge, registry } from '../../base/observability/metrics.ts'
import { version } from '../../base/version.ts'

gauge('mailroom_build_info', '1, labelled with the running version.', ['version', 'bun']).set(
  { version, bun: Bun.version },
  1,
)

/** Serves `/metrics` for Prometheus on a listener of its own, which is to be kept private. */
export function openMetricsServer(listen: Endpoint): { readonly port: number; close(): Promise<void> } {
  if (!registry.getSingleMetric('process_cpu_user_seconds_total')) collectDefaultMetrics({ register: registry })
  const server = Bun.serve({
    hostname: listen.host,
    port: listen.port,
    development: false,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname !== '/metrics') return new Response('Not found\n', { status: 404 })
      return new Response(await registry.metrics(), { headers: { 'content-type': registry.contentType } })
    },
  })
  return { port: server.port ?? listen.port, close: () => server.stop(true) }
}
