import type { Clock } from '../base/clock.ts'
import type { Config } from '../base/config/config.ts'
import type { Db } from '../base/database/database.ts'
import type { Log } from '../base/observability/log.ts'
import type { Secrets } from '../base/secrets/secrets.ts'
import type { Provider } from '../ports/provider/port.ts'
import type { Canary } from '../ports/resolver/canary.ts'
import type { Resolver } from '../ports/resolver/port.ts'
import type { Scanner } from '../ports/scanner/port.ts'
import type { BounceAddresses } from '../receiving/reports/bounce-address.ts'

/** What the roles of this process share. */
export interface AppContext {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly secrets: Secrets
  /** The pool of what runs beside the roles. */
  readonly db: Db
  readonly resolver: Resolver
  readonly canary: Canary
  readonly scanner: Scanner
  /** As the configuration names it. */
  readonly configuredProvider: Provider
  /** The same, with the simulator's recipients before it. */
  readonly provider: Provider
  readonly bounces: BounceAddresses
  /** Is there room on the disks for what is taken? */
  hasDiskSpace(): boolean
  /** Opens a pool for a role; it closes with the rest. */
  openPool(role: Config['roles'][number]): Db
  /** What is to be done at the end; what was said last is done first. */
  onStop(end: () => unknown): void
}
