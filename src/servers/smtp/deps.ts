import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import type { InboundPipeline } from '../../receiving/incoming-message.ts'
import type { SessionLimits } from './session-limits.ts'
import type { SpoolFolder } from './spool.ts'

/** What the sessions of one server share. */
export interface SmtpSessionDeps {
  readonly inbound: InboundPipeline
  readonly log: Log
  readonly clock: Clock
  readonly limits: SessionLimits
  readonly spoolFolder: SpoolFolder
  /** Whether the server is closing, so that no new transaction may start. */
  isClosing(): boolean
  /** Counts the messages in the inbound pipeline: +1 when one is handed over, -1 once it has settled. */
  addInFlight(by: 1 | -1): void
}
