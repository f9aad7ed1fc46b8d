import { startHousekeeping as startForgettingAccounts } from '../accounts/housekeeping.ts'
import { startRounds } from '../base/rounds.ts'
import { forgetTokens } from '../sending/reports/news.ts'
import { forgetSuppressions } from '../sending/suppressions/suppressions.ts'
import type { Shared } from './shared.ts'

const pauseMs = 60_000
const clearedAtOnce = 1000

/** Starts what clears away, in small batches, what has had its time. */
export function startHousekeeping({ config, db, clock, log, atEnd }: Shared): void {
  const accounts = startForgettingAccounts({ db, clock, log, requestLogDays: config.requestLogDays, pauseMs })
  atEnd(() => accounts.stop())
  clear('old suppressions stayed', forgetSuppressions)
  clear('old tokens of providers stayed', forgetTokens)

  function clear(failure: string, forget: typeof forgetTokens): void {
    const rounds = startRounds({ pauseMs, log, failure }, async () =>
      (await forget({ db, clock }, clearedAtOnce)) === clearedAtOnce ? 'more' : 'done',
    )
    atEnd(() => rounds.stop())
  }
}
