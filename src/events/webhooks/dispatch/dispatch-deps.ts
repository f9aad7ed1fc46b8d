import type { Db } from '../../../base/database/database.ts'
import type { Log } from '../../../base/observability/log.ts'
import type { SequenceWatch } from '../../sequence-watch.ts'
import type { AttemptDeps } from './attempt.ts'

/** What the dispatcher of webhooks depends on. */
export interface DispatchDeps extends AttemptDeps {
  readonly db: Db
  readonly log: Log
  readonly sequenceWatch: Pick<SequenceWatch, 'subscribe'>
}
