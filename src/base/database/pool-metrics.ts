import { gauge } from '../observability/metrics.ts'

/** How the connections of a pool stand at this moment. */
export interface PoolUsage {
  readonly connections: number
  inUse: number
  /** Who waits for a connection. */
  waiting: number
}

const pools = new Map<string, PoolUsage>()

/** Read from the counts when somebody asks: a query then costs two additions. */
function poolGauge(name: string, help: string, read: (deps: PoolUsage) => number): void {
  const of = gauge(name, help, ['pool'], () => {
    of.reset()
    for (const [pool, use] of pools) of.set({ pool }, read(use))
  })
}

poolGauge(
  'mailroom_database_connections_max',
  'Connections to the database that a pool may hold.',
  deps => deps.connections,
)
poolGauge('mailroom_database_connections_in_use', 'Connections of a pool that somebody works with.', deps => deps.inUse)
poolGauge('mailroom_database_waiting', 'Who waits for a connection of a pool.', deps => deps.waiting)

/** Counts the use of a pool; `name`: what it is shown as, undefined: it is not shown. */
export function trackPool(connections: number, name: string | undefined): PoolUsage {
  const deps = { connections, inUse: 0, waiting: 0 }
  if (name !== undefined) pools.set(name, deps)
  return deps
}
