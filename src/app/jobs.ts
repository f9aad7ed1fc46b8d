import { forgetInvitations } from '../accounts/invitations/invitations.ts'
import { forgetAnswers } from '../api/idempotency/store.ts'
import { startRounds } from '../base/concurrency/background-job.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import { startRetention } from '../retention/retention.ts'
import { startStorageWatch } from '../retention/storage/storage-watch.ts'
import { forgetTokens } from '../sending/reports/provider-events.ts'
import { forgetSuppressions } from '../sending/suppressions/suppressions.ts'
import type { Shared } from './shared.ts'

const pauseMs = 60_000
const clearedAtOnce = 1000

/** Starts what clears away, in small batches, what has had its time. */
export function startHousekeeping({ config, db, clock, log, atEnd }: Shared): void {
  const retention = startRetention({ db, clock, log, blobs: mysqlBlobs(db, clock), settings: config })
  atEnd(() => retention.stop())
  const storage = startStorageWatch({ db, clock, log, config })
  atEnd(() => storage.stop())
  clear('old answers stayed', use => forgetAnswers(use.db, use.clock, clearedAtOnce))
  clear('old suppressions stayed', forgetSuppressions)
  clear('old invitations stayed', forgetInvitations)
  clear('old tokens of providers stayed', forgetTokens)

  function clear(failure: string, forget: typeof forgetTokens): void {
    const rounds = startRounds({ pauseMs, log, failure }, async () =>
      (await forget({ db, clock }, clearedAtOnce)) === clearedAtOnce ? 'more' : 'done',
    )
    atEnd(() => rounds.stop())
  }
}
