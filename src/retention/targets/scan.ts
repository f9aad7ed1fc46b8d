import { dayMs, type Instant, plusMs } from '../../base/clock.ts'
import { counter } from '../../base/observability/metrics.ts'
import type { RetentionPolicies } from '../policies/policies.ts'
import { deleteDeferred, insertDeferred, selectCursor, selectDeferred, upsertCursor } from './cursors-table.ts'
import type { RetainedItem, RetentionTarget, RetentionTargetDeps } from './target.ts'

const cleared = counter('mailroom_retention_cleared_total', 'What had its time and was removed.', ['kind'])
const clearedBytes = counter('mailroom_retention_cleared_bytes_total', 'Bytes of what had its time, about.', ['kind'])

/** What a step did. */
export interface ScanStep {
  readonly items: number
  readonly bytes: number
  /** Is there more to do at once? */
  readonly isMore: boolean
}

export interface RetentionTask {
  readonly name: string
  readonly run: () => Promise<ScanStep>
}

/**
 * Goes on along a shelf, past what is older than `days`, and clears what is kept so long and no longer. What is kept for
 * another time is passed over: the walk for that time comes by. A step that dies is taken again.
 */
export async function scanNext(
  deps: RetentionTargetDeps,
  shelf: RetentionTarget,
  days: number,
  policies: RetentionPolicies,
): Promise<ScanStep> {
  const { db, clock } = deps
  const before = plusMs(clock.now(), -days * dayMs)
  const after = await selectCursor(db, shelf.name, days)
  const found = await shelf.selectAfter(db, after, before, shelf.batchSize)
  const past = found.slice(
    0,
    countWhile(found, retainedItem => retainedItem.enteredAt < before),
  )
  const ours = past.filter(
    retainedItem => !retainedItem.isCleared && isRetainedFor(days, shelf, retainedItem, policies),
  )
  const step = await clearDue(deps, shelf, ours, () => days)
  const last = past.at(-1)
  if (last) await upsertCursor(db, shelf.name, days, last.position)
  return { ...step, isMore: past.length === shelf.batchSize }
}

/** Looks again at what could not go when the walk came by. */
export async function retryDeferred(
  deps: RetentionTargetDeps,
  shelf: RetentionTarget,
  policies: RetentionPolicies,
): Promise<ScanStep> {
  const { db, clock } = deps
  const ids = await selectDeferred(db, shelf.name, clock.now(), shelf.batchSize)
  if (ids.length === 0) return { items: 0, bytes: 0, isMore: false }
  const daysOf = (retainedItem: RetainedItem) =>
    policies.daysFor(shelf.kind, retainedItem.organizationId, retainedItem.brandId)
  const found = (await shelf.selectByIds(db, ids)).filter(
    retainedItem => !retainedItem.isCleared && daysOf(retainedItem) !== null,
  )
  const there = new Set(found.map(retainedItem => retainedItem.id))
  const step = await clearDue(deps, shelf, found, retainedItem => daysOf(retainedItem) ?? 0)
  await deleteDeferred(
    db,
    shelf.name,
    ids.filter(id => !there.has(id)),
  )
  return { ...step, isMore: ids.length === shelf.batchSize }
}

/** Clears what may go, and remembers what may not yet. */
async function clearDue(
  deps: RetentionTargetDeps,
  shelf: RetentionTarget,
  items: readonly RetainedItem[],
  daysOf: (retainedItem: RetainedItem) => number,
): Promise<Omit<ScanStep, 'isMore'>> {
  const now = deps.clock.now()
  const goesAt = (retainedItem: RetainedItem) => plusMs(retainedItem.retainedFrom, daysOf(retainedItem) * dayMs)
  const due = items.filter(retainedItem => !retainedItem.isInUse && goesAt(retainedItem) <= now)
  const held = new Set(due.length > 0 ? await shelf.clear(deps, due) : [])
  const gone = due.filter(retainedItem => !held.has(retainedItem.id))
  const later = items
    .filter(retainedItem => !gone.includes(retainedItem))
    .map(retainedItem => ({ id: retainedItem.id, againAt: laterOf(goesAt(retainedItem), plusMs(now, dayMs)) }))
  await insertDeferred(deps.db, shelf.name, later)
  await deleteDeferred(
    deps.db,
    shelf.name,
    gone.map(retainedItem => retainedItem.id),
  )
  const bytes = gone.reduce((sum, retainedItem) => sum + retainedItem.bytes, 0)
  cleared.inc({ kind: shelf.kind }, gone.length)
  clearedBytes.inc({ kind: shelf.kind }, bytes)
  return { items: gone.length, bytes }
}

function laterOf(a: Instant, b: Instant): Instant {
  return a > b ? a : b
}

export function isRetainedFor(
  days: number,
  { kind }: RetentionTarget,
  retainedItem: RetainedItem,
  policies: RetentionPolicies,
): boolean {
  return policies.daysFor(kind, retainedItem.organizationId, retainedItem.brandId) === days
}

export function countWhile<Item>(items: readonly Item[], isSo: (item: Item) => boolean): number {
  const end = items.findIndex(each => !isSo(each))
  return end < 0 ? items.length : end
}
