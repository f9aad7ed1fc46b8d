import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type FlowKey, selectFlows } from './outbox.ts'

const maxWalked = 1000
const freshMs = 250

/**
 * Names lanes in turn, round and round: `(db, count, now) → those that have something due`. A walk of the index serves a
 * quarter of a second, so that a large backlog does not cost a walk for each claim.
 */
export function roundRobinFlows(): (db: Db, count: number, now: Instant) => Promise<readonly FlowKey[]> {
  let due: readonly FlowKey[] = []
  let at = 0
  let last: FlowKey | undefined
  let walkedAt = Number.NEGATIVE_INFINITY

  async function walk(db: Db, now: Instant): Promise<void> {
    const lanes = await selectFlows(db, last, maxWalked)
    last = lanes.length < maxWalked ? undefined : lanes.at(-1)
    due = lanes.filter(lane => lane.dueAt <= now)
    at = 0
    walkedAt = performance.now()
  }

  return async (db, count, now) => {
    if (at >= due.length || performance.now() - walkedAt > freshMs) await walk(db, now)
    const turn = due.slice(at, at + count)
    at += turn.length
    // Everything was walked: the same lanes again until the walk is old.
    if (at >= due.length && last === undefined) at = 0
    return turn
  }
}
