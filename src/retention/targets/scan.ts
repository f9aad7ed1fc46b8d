import { type Instant, plusMs } from '../../base/clock.ts'
import { counter } from '../../base/observability/metrics.ts'
import type { Policies } from '../policies/policies.ts'
import { addWaiting, deleteWaiting, moveCursor, selectCursor, selectWaiting } from './cursors-table.ts'
import type { Clearing, Kept, Shelf } from './target.ts'

export const dayMs = 24 * 3_600_000

const cleared = counter('mailroom_retention_cleared_total', 'What had its time and was removed.', ['kind'])
const clearedBytes = counter('mailroom_retention_cleared_bytes_total', 'Bytes of what had its time, about.', ['kind'])

/** What a step did. */
export interface Step {
  readonly items: number
  readonly bytes: number
  /** Is there more to do at once? */
  readonly isMore: boolean
}

/**
 * Goes on along a shelf, past what is older than `days`, and clears what is kept so long and no longer. What is kept for
 * another time is passed over: the walk for that time comes by. A step that dies is taken again.
 */
export async function stepAlong(use: Clearing, shelf: Shelf, days: number, policies: Policies): Promise<Step> {
  const { db, clock } = use
  const before = plusMs(clock.now(), -days * dayMs)
  const after = await selectCursor(db, shelf.name, days)
  const found = await shelf.next(db, after, before, shelf.atOnce)
  const past = found.slice(
    0,
    countWhile(found, each => each.placedAt < before),
  )
  const ours = past.filter(each => !each.isCleared && isKeptFor(days, shelf, each, policies))
  const step = await clear(use, shelf, ours, () => days)
  const last = past.at(-1)
  if (last) await moveCursor(db, shelf.name, days, last.position)
  return { ...step, isMore: past.length === shelf.atOnce }
}

/** Looks again at what could not go when the walk came by. */
export async function stepWaiting(use: Clearing, shelf: Shelf, policies: Policies): Promise<Step> {
  const { db, clock } = use
  const ids = await selectWaiting(db, shelf.name, clock.now(), shelf.atOnce)
  if (ids.length === 0) return { items: 0, bytes: 0, isMore: false }
  const daysOf = (each: Kept) => policies.daysFor(shelf.kind, each.organizationId, each.brandId)
  const found = (await shelf.find(db, ids)).filter(each => !each.isCleared && daysOf(each) !== null)
  const there = new Set(found.map(each => each.id))
  const step = await clear(use, shelf, found, each => daysOf(each) ?? 0)
  await deleteWaiting(
    db,
    shelf.name,
    ids.filter(id => !there.has(id)),
  )
  return { ...step, isMore: ids.length === shelf.atOnce }
}

/** Clears what may go, and remembers what may not yet. */
async function clear(
  use: Clearing,
  shelf: Shelf,
  items: readonly Kept[],
  daysOf: (each: Kept) => number,
): Promise<Omit<Step, 'isMore'>> {
  const now = use.clock.now()
  const goesAt = (each: Kept) => plusMs(each.countsFrom, daysOf(each) * dayMs)
  const due = items.filter(each => !each.isHeld && goesAt(each) <= now)
  const held = new Set(due.length > 0 ? await shelf.clear(use, due) : [])
  const gone = due.filter(each => !held.has(each.id))
  const later = items
    .filter(each => !gone.includes(each))
    .map(each => ({ id: each.id, againAt: latest(goesAt(each), plusMs(now, dayMs)) }))
  await addWaiting(use.db, shelf.name, later)
  await deleteWaiting(
    use.db,
    shelf.name,
    gone.map(each => each.id),
  )
  const bytes = gone.reduce((sum, each) => sum + each.bytes, 0)
  cleared.inc({ kind: shelf.kind }, gone.length)
  clearedBytes.inc({ kind: shelf.kind }, bytes)
  return { items: gone.length, bytes }
}

function latest(a: Instant, b: Instant): Instant {
  return a > b ? a : b
}

export function isKeptFor(days: number, { kind }: Shelf, each: Kept, policies: Policies): boolean {
  return policies.daysFor(kind, each.organizationId, each.brandId) === days
}

export function countWhile<Item>(items: readonly Item[], isSo: (item: Item) => boolean): number {
  const end = items.findIndex(each => !isSo(each))
  return end < 0 ? items.length : end
}
