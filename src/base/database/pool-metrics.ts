import { counter, gauge } from '../observability/metrics.ts'

/** How the connections of a pool are used at the moment. */
export interface PoolUsage {
  readonly connections: number
  inUse: number
  /** Callers that wait for a connection. */
  waiting: number
  /** Counts a connection that was closed, or could not be opened, because the database did not answer. */
  countTimeout(): void
}

const pools = new Map<string, PoolUsage>()

/** A gauge that is read from the counts when metrics are collected: a query then costs only two additions. */
function poolGauge(name: string, help: string, read: (usage: PoolUsage) => number): void {
  const usageGauge = gauge(name, help, ['pool'], {
    read: () => {
      usageGauge.reset()
      for (const [pool, usage] of pools) usageGauge.set({ pool }, read(usage))
    },
  })
}

poolGauge(
  'mailroom_database_connections_max',
  'Connections to the database that a pool may open.',
  usage => usage.connections,
)
poolGauge('mailroom_database_connections_in_use', 'Connections of a pool that are in use.', usage => usage.inUse)
poolGauge('mailroom_database_waiting', 'Callers that wait for a connection of a pool.', usage => usage.waiting)

const timeoutsTotal = counter(
  'mailroom_database_timeouts_total',
  'Connections of a pool that were closed, or could not be opened, because the database did not answer.',
  ['pool'],
)

/** The counts of a new pool; `name` is its label in the metrics, undefined: it has no metrics. */
export function trackPool(connections: number, name: string | undefined): PoolUsage {
  const usage = {
    connections,
    inUse: 0,
    waiting: 0,
    countTimeout: () => {
      if (name !== undefined) timeoutsTotal.inc({ pool: name })
    },
  }
  if (name !== undefined) {
    pools.set(name, usage)
    timeoutsTotal.inc({ pool: name }, 0)
  }
  return usage
}
