import { gauge } from '../observability/metrics.ts'

/** How the connections of a pool stand at this moment. */
export interface PoolUse {
  readonly connections: number
  inUse: number
  /** Who waits for a connection. */
  waiting: number
}

const pools = new Map<string, PoolUse>()

/** Read from the counts when somebody asks: a query then costs two additions. */
function shown(name: string, help: string, read: (use: PoolUse) => number): void {
  const of = gauge(name, help, ['pool'], () => {
    of.reset()
    for (const [pool, use] of pools) of.set({ pool }, read(use))
  })
}

shown('mailroom_database_connections_max', 'Connections to the database that a pool may hold.', use => use.connections)
shown('mailroom_database_connections_in_use', 'Connections of a pool that somebody works with.', use => use.inUse)
shown('mailroom_database_waiting', 'Who waits for a connection of a pool.', use => use.waiting)

/** Counts the use of a pool; `name`: what it is shown as, undefined: it is not shown. */
export function poolUse(connections: number, name: string | undefined): PoolUse {
  const use = { connections, inUse: 0, waiting: 0 }
  if (name !== undefined) pools.set(name, use)
  return use
}
