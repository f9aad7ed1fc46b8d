import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import type { InboundPipeline } from '../../receiving/incoming-message.ts'
import type { SessionLimits } from './session-limits.ts'
import type { SpoolFolder } from './spool.ts'

/** What the sessions of one door share. */
export interface SmtpSessionDeps {
  readonly inbound: InboundPipeline
  readonly log: Log
  readonly clock: Clock
  readonly limits: SessionLimits
  readonly spoolFolder: SpoolFolder
  /** Is the door closing, so that no new transaction may start? */
  isClosing(): boolean
  /** A message is being handed to the way in; to be called again with -1 once that has settled. */
  addInFlight(by: 1 | -1): void
}
