import type { Tenant } from '../../api/tenant.ts'
import { type Clock, hourMs, type Instant, instantAt, microsecondsOf, minuteMs, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { countInSpans, type HourlyKind, type Span } from './table.ts'
import { deleteOldest, tenantKey } from './tenant-cache.ts'

/** An hour, and how much of each kind there was in it; null: it is not counted yet. */
export interface HourCounts extends Readonly<Record<HourlyKind, number | null>> {
  readonly at: Instant
}

export interface HourlyLimits {
  /** An hour is counted up to this: there were more, when its count is one above. */
  readonly mostPerHour: number
  /** After so many rows the rest is left to the next call. */
  readonly mostRows: number
}

export const hourlyLimits: HourlyLimits = { mostPerHour: 100_000, mostRows: 300_000 }

const hours = 7 * 24
const hoursPerStatement = 24
const maxTenants = 1000
/** A row may be committed a while after the time that it bears. */
const settledMs = 10 * minuteMs

/**
 * Counts what was received and accepted in each hour of the last 7 days, oldest first. An hour that is over is counted once
 * and remembered, so a call reads the rows of the current hour, and at first some of the week's: the newest first.
 */
export function openHourlyCounts({
  db,
  clock,
  limits = hourlyLimits,
}: {
  readonly db: Db
  readonly clock: Clock
  readonly limits?: HourlyLimits
}): (tenant: Tenant) => Promise<readonly HourCounts[]> {
  const counted = new Map<string, Map<Instant, HourCounts>>()

  return async tenant => {
    const now = clock.now()
    const key = tenantKey(tenant)
    const known = new Map(counted.get(key))
    const starts = hoursBefore(now)
    const missing = starts.filter(at => !known.has(at))
    let rows = 0
    for (let from = 0; from < missing.length && rows < limits.mostRows; from += hoursPerStatement) {
      const spans = missing.slice(from, from + hoursPerStatement).map(at => ({ from: at, to: plusMs(at, hourMs) }))
      for (const hour of await countHours(db, tenant, spans, limits.mostPerHour)) {
        known.set(hour.at, hour)
        rows += (hour.received ?? 0) + (hour.accepted ?? 0)
      }
    }
    const settled = plusMs(now, -hourMs - settledMs)
    counted.delete(key)
    counted.set(key, new Map([...known].filter(([at]) => at <= settled && at >= (starts.at(-1) ?? at))))
    deleteOldest(counted, maxTenants)
    return starts.map(at => known.get(at) ?? { at, received: null, accepted: null }).reverse()
  }
}

async function countHours(db: Db, tenant: Tenant, spans: readonly Span[], most: number): Promise<HourCounts[]> {
  const [received, accepted] = await Promise.all([
    countInSpans(db, tenant, 'received', spans, most),
    countInSpans(db, tenant, 'accepted', spans, most),
  ])
  return spans.map(({ from }, i) => ({ at: from, received: received[i] ?? 0, accepted: accepted[i] ?? 0 }))
}

/** The starts of the current hour and of those before it, newest first. */
function hoursBefore(now: Instant): readonly Instant[] {
  const hourUs = hourMs * 1000
  const current = Math.floor(microsecondsOf(now) / hourUs) * hourUs
  return Array.from({ length: hours }, (_, i) => instantAt(current - i * hourUs))
}
