import type { Config } from '../base/config/config.ts'
import { type Database, openDatabase } from '../base/database/database.ts'
import type { DatabaseWorkload } from '../base/database/timeouts.ts'
import type { AppContext } from './app-context.ts'

/** The connection pools of this process. */
export interface Pools {
  /** Opens a pool; it is closed when the process stops. @param name its label in the metrics */
  open(name: string, workload: DatabaseWorkload): Database
}

/** How long the database gets to answer while the process stops, in milliseconds. */
const stoppingMs = 8000

/** To be called before anything else registers what the shutdown begins with, which then waits no longer for the database. */
export function openPools(config: Config, { onDrain, onStop }: Pick<AppContext, 'onDrain' | 'onStop'>): Pools {
  const pools: Database[] = []
  onDrain(async () => {
    for (const pool of pools) pool.limitTimeouts(stoppingMs)
  })
  return {
    open(name, workload) {
      const pool = openDatabase(config.databaseUrl, config.databaseConnections, { name, workload })
      pools.push(pool)
      onStop(() => pool.close())
      return pool
    },
  }
}
