import { type Clock, dayMs, type Instant, plusMs } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { countUnreferenced } from '../ports/blobs/tombstones-table.ts'
import type { RetentionKind, RetentionSettings } from './policies/kinds.ts'
import {
  loadRetentionPolicies,
  previewRetentionPolicies,
  type RetentionChange,
  type RetentionPolicies,
} from './policies/policies.ts'
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
    for (const days of policies.periodsOf(target.kind)) {
      const from = await selectCursor(db, target.name, days)
      const by = plusMs(clock.now(), soonMs)
      for await (const item of dueItems({ db, policies }, target, days, { by, from, isOver: () => false })) {
        addPlanned(planned, { ...item, kind: target.kind, days, isNow: dueAt(item, days) <= clock.now() })
        onItem(++items)
      }
    }
  const { count, bytes } = await countUnreferenced(db)
  return { removals: [...planned.values()], unreferencedBlobs: { items: count, bytes } }
}

/** What one organization would lose now. */
export interface OrganizationRetentionPlan {
  readonly amounts: ReadonlyMap<RetentionKind, RemovalAmount>
  /** false: the look ended before all was counted; there may be more. */
  readonly isComplete: boolean
}

export interface OrganizationPlanOptions {
  /** Counts what would go after this change, of its kind alone. */
  readonly change?: RetentionChange | undefined
  /** Counts at most so many items, and for at most so long. */
  readonly maxItems: number
  readonly maxMs: number
}

/** Counts what would be deleted of an organization now, and changes nothing. */
export async function planOrganizationRetention(
  { db, clock, settings }: { readonly db: Db; readonly clock: Clock; readonly settings: RetentionSettings },
  organizationId: Id<'org'>,
  { change, maxItems, maxMs }: OrganizationPlanOptions,
): Promise<OrganizationRetentionPlan> {
  const policies = change
    ? await previewRetentionPolicies(db, settings, change)
    : await loadRetentionPolicies(db, settings)
  const amounts = new Map<RetentionKind, RemovalAmount>()
  const startedMs = performance.now()
  let items = 0
  const isOver = () => items >= maxItems || performance.now() - startedMs >= maxMs
  for (const target of retentionTargets.filter(({ kind }) => change === undefined || kind === change.kind))
    for (const days of policies.periodsOf(target.kind)) {
      // A change lets the scan begin again.
      const from = change ? '' : await selectCursor(db, target.name, days)
      for await (const item of dueItems({ db, policies }, target, days, { by: clock.now(), from, isOver })) {
        if (item.organizationId !== organizationId) continue
        const { items: count, bytes } = amounts.get(target.kind) ?? none
        amounts.set(target.kind, { items: count + 1, bytes: bytes + item.bytes })
        if (++items >= maxItems) break
      }
    }
  return { amounts, isComplete: !isOver() }
}

function dueAt({ retainedFrom }: RetainedItem, days: number): Instant {
  return plusMs(retainedFrom, days * dayMs)
}

/** The items with this retention time that are due by then, from a position on, until `isOver`. */
async function* dueItems(
  { db, policies }: { readonly db: Db; readonly policies: RetentionPolicies },
  target: RetentionTarget,
  days: number,
  { by, from, isOver }: { readonly by: Instant; readonly from: string; readonly isOver: () => boolean },
): AsyncGenerator<RetainedItem> {
  const before = plusMs(by, -days * dayMs)
  for (let after: string | undefined = from; after !== undefined && !isOver(); ) {
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
