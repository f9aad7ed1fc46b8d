import { gauge } from '../../base/observability/metrics.ts'
import type { Readiness } from './readiness.ts'

const ready = gauge('mailroom_part_ready', '1 while a part that the service needs is ready, as `/ready` shows it.', [
  'part',
])

/** Shows what `/ready` answers now. */
export async function updateReadinessMetrics(readiness: Readiness): Promise<void> {
  for (const [part, state] of Object.entries(await readiness())) ready.set({ part }, state.ready ? 1 : 0)
}
