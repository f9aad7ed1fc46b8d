import type { Clock } from '../base/clock.ts'
import type { Config } from '../base/config/config.ts'
import type { Db } from '../base/database/database.ts'
import type { DiskSpaceMonitor } from '../base/disk-space.ts'
import type { Log } from '../base/observability/log.ts'
import type { Secrets } from '../base/secrets/secrets.ts'
import type { SequenceWatch } from '../events/sequence-watch.ts'
import type { LatestResults } from '../health/doctor/results/latest-results.ts'
import type { OpenBreaker } from '../health/processes/processes.ts'
import type { Provider } from '../ports/provider/port.ts'
import type { Canary } from '../ports/resolver/canary.ts'
import type { Resolver } from '../ports/resolver/port.ts'
import type { Scanner } from '../ports/scanner/port.ts'
import type { SpamFilter } from '../ports/spam-filter/port.ts'
import type { BounceAddresses } from '../receiving/reports/bounce-address.ts'
import type { ClientLimits } from '../servers/limits/client-limits.ts'
import type { CountExchange } from '../servers/limits/rate-limiter.ts'

/** What a process does; see MAILROOM_ROLES. */
export type Role = Config['roles'][number]

/** What a process does for its instance, beside other processes that listen on the same ports. */
export interface ProcessShare {
  /** Does it run the background jobs, which the processes of one `serve` need only once? */
  readonly runsJobs: boolean
  /** Are there others on the same ports (SO_REUSEPORT)? Their parent then serves the metrics of all. */
  readonly sharesPorts: boolean
  /** The settings of the instance, of which those of this process may be a part. */
  readonly instanceConfig: Config
  /** Tells the relay of another process that an email may be due, where this one has no relay. */
  readonly wakeOtherRelay: () => void
  /** Where there are others on the same ports, to which the connections of one client may come as well. */
  readonly requestCounts?: CountExchange
}

/** What all roles and jobs of this process share. */
export interface AppContext {
  readonly config: Config
  readonly share: ProcessShare
  readonly log: Log
  readonly clock: Clock
  readonly secrets: Secrets
  /** The connection pool of the background jobs; each role has a pool of its own. */
  readonly db: Db
  readonly resolver: Resolver
  readonly canary: Canary
  readonly scanner: Scanner
  /** null: none is configured. */
  readonly spamFilter: SpamFilter | null
  /** The provider that the configuration names. */
  readonly configuredProvider: Provider
  /** The same, with the simulator in front of it: emails to simulated recipients never reach the provider. */
  readonly provider: Provider
  /** The addresses to which bounces of our emails come. */
  readonly bounces: BounceAddresses
  /** Tells when there are new events. */
  readonly sequenceWatch: SequenceWatch
  /** Whether the disks have enough free space to accept mail. */
  readonly diskSpace: DiskSpaceMonitor
  /** What clients may do in a minute, whichever server of this process they use. */
  readonly clientLimits: ClientLimits
  /** What the relay of this process says of its provider; a process without the role relay has no open breaker. */
  readonly relayStatus: { findOpenBreaker: () => OpenBreaker | null }
  /** What the checks of doctor found last in this process. */
  readonly doctorResults: LatestResults
  /** Opens the connection pool of a role; it is closed when the process stops. */
  openPool(role: Role): Db
  /**
   * Registers what the shutdown begins with: ending what comes from outside, and finishing the work in progress. All of these
   * run at the same time, so that none adds to the time of another.
   */
  onDrain(drain: () => Promise<unknown>): void
  /** Registers a step of the shutdown after that. Steps run one after the other, the last registered first. */
  onStop(step: () => unknown): void
}
