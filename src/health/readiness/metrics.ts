import { gauge } from '../../base/observability/metrics.ts'
import type { Readiness } from './readiness.ts'

const ready = gauge('mailroom_part_ready', '1 while a part that the service needs is ready, as in `/ready`; else 0.', [
  'part',
])

/** Shows the present answer of `/ready`. */
export async function updateReadinessMetrics(readiness: Readiness): Promise<void> {
  for (const [part, state] of Object.entries(await readiness())) ready.set({ part }, state.ready ? 1 : 0)
}
