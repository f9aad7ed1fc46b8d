import type { Clock } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/database/database.ts'
import { openLog } from '../../src/base/observability/log.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import type { RetentionSettings } from '../../src/retention/policies/kinds.ts'
import { openRetention } from '../../src/retention/retention.ts'

const settings: RetentionSettings = { requestLogDays: 30, pauseWindowHours: 24 }

/** Runs the rounds of retention until nothing is left to delete, as a process does that has just started. */
export async function runRetention(db: Db, clock: Clock): Promise<void> {
  const log = openLog('silent')
  const retention = openRetention({ db, clock, log, blobs: mysqlBlobs(db, clock), settings })
  for (let result = 'more'; result !== 'done'; )
    result = await retention.runRound({ pause: () => Promise.resolve(), isStopping: () => false })
}
