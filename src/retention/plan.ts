import { type Clock, dayMs, type Instant, plusMs } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { countUnreferenced } from '../ports/blobs/tombstones-table.ts'
import type { RetentionKind, RetentionSettings } from './policies/kinds.ts'
import { loadRetentionPolicies, type RetentionPolicies } from './policies/policies.ts'
import { retentionTargets } from './retention.ts'
import { selectCursor } from './targets/cursors-table.ts'
import { isRetainedFor, takeWhile } from './targets/scan.ts'
import type { RetainedItem, RetentionTarget } from './targets/target.ts'

/** How much would be deleted. */
export interface RemovalAmount {
  readonly items: number
  /** An upper limit of what is freed: the same content may be stored for other messages too. */
  readonly bytes: number
}

/** What would be deleted of one kind, for one organization and brand. */
export interface PlannedRemoval {
  readonly kind: RetentionKind
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'> | null
  readonly days: number
  readonly now: RemovalAmount
  /** Within the next 30 days, in addition to `now`. */
  readonly soon: RemovalAmount
}

/** What retention would delete. */
export interface RetentionPlan {
  readonly removals: readonly PlannedRemoval[]
  /** Blobs that nothing refers to any more; each is deleted seven days after that was noticed. */
  readonly unreferencedBlobs: RemovalAmount
}

const soonMs = 30 * dayMs
const batchSize = 1000
const none: RemovalAmount = { items: 0, bytes: 0 }

/** Plans what would be deleted now and within 30 days, and changes nothing. `onItem` gets the number of items planned so far. */
export async function planRetention(
  { db, clock, settings }: { readonly db: Db; readonly clock: Clock; readonly settings: RetentionSettings },
  onItem: (items: number) => void = () => undefined,
): Promise<RetentionPlan> {
  const policies = await loadRetentionPolicies(db, settings)
  const planned = new Map<string, PlannedRemoval>()
  let items = 0
  for (const target of retentionTargets)
    for (const days of policies.periodsOf(target.kind))
      for await (const item of dueItems({ db, policies }, target, days, plusMs(clock.now(), soonMs))) {
        addPlanned(planned, { ...item, kind: target.kind, days, isNow: dueAt(item, days) <= clock.now() })
        onItem(++items)
      }
  const { count, bytes } = await countUnreferenced(db)
  return { removals: [...planned.values()], unreferencedBlobs: { items: count, bytes } }
}

function dueAt({ retainedFrom }: RetainedItem, days: number): Instant {
  return plusMs(retainedFrom, days * dayMs)
}

/** The items with this retention time that are due by then, from the position of the scan on. */
async function* dueItems(
  { db, policies }: { readonly db: Db; readonly policies: RetentionPolicies },
  target: RetentionTarget,
  days: number,
  by: Instant,
): AsyncGenerator<RetainedItem> {
  const before = plusMs(by, -days * dayMs)
  for (let after: string | undefined = await selectCursor(db, target.name, days); after !== undefined; ) {
    const found = await target.selectAfter(db, after, before, batchSize)
    const old = takeWhile(found, item => item.enteredAt < before)
    for (const item of old)
      if (!item.isCleared && !item.isInUse && isRetainedFor(days, target, item, policies) && dueAt(item, days) <= by)
        yield item
    after = old.length === batchSize ? old.at(-1)?.position : undefined
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
