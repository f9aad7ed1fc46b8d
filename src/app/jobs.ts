import { deleteClosedInvitations } from '../accounts/invitations/invitations.ts'
import { deleteExpiredResponses } from '../api/idempotency/store.ts'
import { startJob } from '../base/concurrency/background-job.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import { startRetention } from '../retention/retention.ts'
import { startStorageWatch } from '../retention/storage/storage-watch.ts'
import { deleteOldTokens } from '../sending/reports/provider-events.ts'
import { expireSuppressions } from '../sending/suppressions/suppressions.ts'
import type { AppContext } from './app-context.ts'

const pauseMs = 60_000
const clearedAtOnce = 1000

/** Starts what clears away, in small batches, what has had its time. */
export function startHousekeeping({ config, db, clock, log, onStop }: AppContext): void {
  const retention = startRetention({ db, clock, log, blobs: mysqlBlobs(db, clock), settings: config })
  onStop(() => retention.stop())
  const storage = startStorageWatch({ db, clock, log, config })
  onStop(() => storage.stop())
  clear('old answers stayed', deps => deleteExpiredResponses(deps.db, deps.clock, clearedAtOnce))
  clear('old suppressions stayed', expireSuppressions)
  clear('old invitations stayed', deleteClosedInvitations)
  clear('old tokens of providers stayed', deleteOldTokens)

  function clear(failure: string, forget: typeof deleteOldTokens): void {
    const rounds = startJob({ pauseMs, log, failureMessage: failure }, async () =>
      (await forget({ db, clock }, clearedAtOnce)) === clearedAtOnce ? 'more' : 'done',
    )
    onStop(() => rounds.stop())
  }
}
