import { collectDefaultMetrics } from 'prom-client'
import type { Endpoint } from '../../base/config.ts'
import { registry } from '../../base/metrics.ts'

/** Opens `/metrics` for Prometheus, on a listener of its own: keep it private. */
export function openMetricsDoor(listen: Endpoint): { readonly port: number; close(): Promise<void> } {
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
