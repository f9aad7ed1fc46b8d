import { type Clock, dayMs, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { deleteExpiredChallenges } from '../users/factors-table.ts'
import { deleteForgottenFailures } from './attempts.ts'
import { deleteOldLoginLinks } from './login-links-table.ts'
import { deleteExpiredSessions } from './table.ts'

/** For so long whoever opens an old login link is told why it no longer works. */
const keepLinksMs = 30 * dayMs

/**
 * Deletes sessions and answered challenges that have expired, login links that expired long ago, and failures that are
 * forgotten: up to `most` of each. Resolves to how many of the kind that there were most of.
 */
export async function deleteExpiredSignIns(
  deps: { readonly db: Db; readonly clock: Clock },
  most: number,
): Promise<number> {
  const { db, clock } = deps
  const now = clock.now()
  return Math.max(
    await deleteExpiredSessions(db, now, most),
    await deleteExpiredChallenges(db, now, most),
    await deleteOldLoginLinks(db, plusMs(now, -keepLinksMs), most),
    await deleteForgottenFailures(deps, most),
  )
}
