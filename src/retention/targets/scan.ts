import { dayMs, type Instant, plusMs } from '../../base/clock.ts'
import { counter } from '../../base/observability/metrics.ts'
import type { RetentionPolicies } from '../policies/policies.ts'
import { deleteDeferred, insertDeferred, selectCursor, selectDeferred, upsertCursor } from './cursors-table.ts'
import type { RetainedItem, RetentionTarget, RetentionTargetDeps } from './target.ts'

const cleared = counter('mailroom_retention_cleared_total', 'Items deleted because their retention time had passed.', [
  'kind',
])
const clearedBytes = counter(
  'mailroom_retention_cleared_bytes_total',
  'Bytes of the items deleted because their retention time had passed, roughly.',
  ['kind'],
)

/** What a step of the job deleted. */
export interface ScanStep {
  readonly items: number
  readonly bytes: number
  /** Is there more to do right away? */
  readonly isMore: boolean
}

/** A step of a round, with its name in the output of `./mailroom retention run`. */
export interface RetentionTask {
  readonly name: string
  readonly run: () => Promise<ScanStep>
}

/**
 * Scans the next items of a target that are older than `days`, and clears those whose retention time that is. Each retention
 * time has a scan of its own, with its own cursor. A step may be repeated.
 */
export async function scanNext(
  deps: RetentionTargetDeps,
  target: RetentionTarget,
  days: number,
  policies: RetentionPolicies,
): Promise<ScanStep> {
  const { db, clock } = deps
  const before = plusMs(clock.now(), -days * dayMs)
  const after = await selectCursor(db, target.name, days)
  const found = await target.selectAfter(db, after, before, target.batchSize)
  const old = takeWhile(found, item => item.enteredAt < before)
  const ours = old.filter(item => !item.isCleared && isRetainedFor(days, target, item, policies))
  const step = await clearDue(deps, target, ours, () => days)
  const last = old.at(-1)
  if (last) await upsertCursor(db, target.name, days, last.position)
  return { ...step, isMore: old.length === target.batchSize }
}

/** Tries again to clear items that were in use, or not due yet, when they were scanned. */
export async function retryDeferred(
  deps: RetentionTargetDeps,
  target: RetentionTarget,
  policies: RetentionPolicies,
): Promise<ScanStep> {
  const { db, clock } = deps
  const ids = await selectDeferred(db, target.name, clock.now(), target.batchSize)
  if (ids.length === 0) return { items: 0, bytes: 0, isMore: false }
  const daysOf = (item: RetainedItem) => policies.daysFor(target.kind, item.organizationId, item.brandId)
  const found = (await target.selectByIds(db, ids)).filter(item => !item.isCleared && daysOf(item) !== null)
  const stillThere = new Set(found.map(item => item.id))
  const step = await clearDue(deps, target, found, item => daysOf(item) ?? 0)
  await deleteDeferred(
    db,
    target.name,
    ids.filter(id => !stillThere.has(id)),
  )
  return { ...step, isMore: ids.length === target.batchSize }
}

/** Clears the items that are due and not in use, and defers the others, for a day at least. */
async function clearDue(
  deps: RetentionTargetDeps,
  target: RetentionTarget,
  items: readonly RetainedItem[],
  daysOf: (item: RetainedItem) => number,
): Promise<Omit<ScanStep, 'isMore'>> {
  const now = deps.clock.now()
  const dueAt = (item: RetainedItem) => plusMs(item.retainedFrom, daysOf(item) * dayMs)
  const due = items.filter(item => !item.isInUse && dueAt(item) <= now)
  const inUse = new Set(due.length > 0 ? await target.clear(deps, due) : [])
  const deleted = due.filter(item => !inUse.has(item.id))
  const later = items
    .filter(item => !deleted.includes(item))
    .map(item => ({ id: item.id, againAt: laterOf(dueAt(item), plusMs(now, dayMs)) }))
  await insertDeferred(deps.db, target.name, later)
  await deleteDeferred(
    deps.db,
    target.name,
    deleted.map(item => item.id),
  )
  const bytes = deleted.reduce((sum, item) => sum + item.bytes, 0)
  cleared.inc({ kind: target.kind }, deleted.length)
  clearedBytes.inc({ kind: target.kind }, bytes)
  return { items: deleted.length, bytes }
}

function laterOf(a: Instant, b: Instant): Instant {
  return a > b ? a : b
}

/** Is this the retention time of the item? */
export function isRetainedFor(
  days: number,
  { kind }: RetentionTarget,
  item: RetainedItem,
  policies: RetentionPolicies,
): boolean {
  return policies.daysFor(kind, item.organizationId, item.brandId) === days
}

/** The items before the first for which the condition does not hold. */
export function takeWhile<Item>(items: readonly Item[], holds: (item: Item) => boolean): readonly Item[] {
  const end = items.findIndex(item => !holds(item))
  return end < 0 ? items : items.slice(0, end)
}
