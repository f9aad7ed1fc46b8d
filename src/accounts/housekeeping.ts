import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import type { Log } from '../base/log.ts'
import { type Rounds, startRounds } from '../base/rounds.ts'
import { forgetAnswers } from './idempotency.ts'
import { forgetRequests } from './requests.ts'

export interface HousekeepingUse {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  /** How long requests are kept. */
  readonly requestLogDays: number
  readonly pauseMs: number
}

/** Rows that are dropped by one statement, at most: a large one would hold up those who write. */
const atOnce = 1000

/** Forgets, again and again, the answers and the requests that have been kept long enough. */
export function startHousekeeping({ db, clock, log, requestLogDays, pauseMs }: HousekeepingUse): Rounds {
  return startRounds({ pauseMs, log, failure: 'what is old was not forgotten' }, async () => {
    const answers = await forgetAnswers(db, clock, atOnce)
    const requests = await forgetRequests(db, clock, requestLogDays, atOnce)
    return answers === atOnce || requests === atOnce ? 'more' : 'done'
  })
}
