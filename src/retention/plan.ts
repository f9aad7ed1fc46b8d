import { type Clock, dayMs, type Instant, plusMs } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { countUnreferenced } from '../ports/blobs/tombstones-table.ts'
import type { RetentionKind, RetentionSettings } from './policies/kinds.ts'
import { loadRetentionPolicies, type RetentionPolicies } from './policies/policies.ts'
import { retentionTargets } from './retention.ts'
import { selectCursor } from './targets/cursors-table.ts'
import { countWhile, isRetainedFor } from './targets/scan.ts'
import type { RetainedItem, RetentionTarget } from './targets/target.ts'

export interface RemovalAmount {
  readonly items: number
  /** What it frees, at most: the same bytes may be kept for others. */
  readonly bytes: number
}

/** What would go of one kind, of one organization and brand. */
export interface PlannedRemoval {
  readonly kind: RetentionKind
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'> | null
  readonly days: number
  readonly now: RemovalAmount
  /** What goes within the next 30 days, without what goes now. */
  readonly soon: RemovalAmount
}

export interface RetentionPlan {
  readonly removals: readonly PlannedRemoval[]
  /** Blobs that nothing refers to any more; each goes seven days after that was seen. */
  readonly unreferencedBlobs: RemovalAmount
}

const soonMs = 30 * dayMs
const batchSize = 1000
const none: RemovalAmount = { items: 0, bytes: 0 }

/** What would go now and within 30 days, and changes nothing. Goes through all that is old enough; `told` hears how much. */
export async function planRetention(
  { db, clock, settings }: { readonly db: Db; readonly clock: Clock; readonly settings: RetentionSettings },
  told: (items: number) => void = () => undefined,
): Promise<RetentionPlan> {
  const policies = await loadRetentionPolicies(db, settings)
  const planned = new Map<string, PlannedRemoval>()
  let items = 0
  for (const shelf of retentionTargets)
    for (const days of policies.periodsOf(shelf.kind))
      for await (const dueItem of dueItems({ db, policies }, shelf, days, plusMs(clock.now(), soonMs))) {
        addPlanned(planned, { ...dueItem, kind: shelf.kind, days, isNow: dueAt(dueItem, days) <= clock.now() })
        told(++items)
      }
  const { count, bytes } = await countUnreferenced(db)
  return { removals: [...planned.values()], unreferencedBlobs: { items: count, bytes } }
}

function dueAt({ retainedFrom }: RetainedItem, days: number): Instant {
  return plusMs(retainedFrom, days * dayMs)
}

/** What is kept for so many days and goes by then, from where the walk is. */
async function* dueItems(
  { db, policies }: { readonly db: Db; readonly policies: RetentionPolicies },
  shelf: RetentionTarget,
  days: number,
  by: Instant,
): AsyncGenerator<RetainedItem> {
  const before = plusMs(by, -days * dayMs)
  for (let after: string | undefined = await selectCursor(db, shelf.name, days); after !== undefined; ) {
    const found = await shelf.selectAfter(db, after, before, batchSize)
    const past = found.slice(
      0,
      countWhile(found, retainedItem => retainedItem.enteredAt < before),
    )
    for (const retainedItem of past)
      if (
        !retainedItem.isCleared &&
        !retainedItem.isInUse &&
        isRetainedFor(days, shelf, retainedItem, policies) &&
        dueAt(retainedItem, days) <= by
      )
        yield retainedItem
    after = past.length === batchSize ? past.at(-1)?.position : undefined
  }
}

function addPlanned(
  planned: Map<string, PlannedRemoval>,
  {
    kind,
    organizationId,
    brandId,
    days,
    bytes,
    isNow,
  }: RetainedItem & { kind: RetentionKind; days: number; isNow: boolean },
): void {
  const key = [kind, organizationId, brandId, days].join(' ')
  const known = planned.get(key) ?? { kind, organizationId, brandId, days, now: none, soon: none }
  const when = isNow ? 'now' : 'soon'
  planned.set(key, { ...known, [when]: { items: known[when].items + 1, bytes: known[when].bytes + bytes } })
}
