import type { Db } from '../../../base/database/database.ts'
import type { Log } from '../../../base/observability/log.ts'
import type { SequenceWatch } from '../../sequence-watch.ts'
import type { DisabledReason } from '../disable.ts'
import type { WebhookRow } from '../table.ts'
import type { AttemptDeps } from './attempt.ts'

/** What the dispatcher of webhooks depends on. */
export interface DispatchDeps extends AttemptDeps {
  readonly db: Db
  readonly log: Log
  readonly sequenceWatch: Pick<SequenceWatch, 'subscribe'>
  /** Called after a webhook was disabled without anybody asking for it; what it throws is logged. */
  readonly onDisabled: (webhook: WebhookRow, reason: DisabledReason) => Promise<void>
}
