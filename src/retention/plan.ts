import { type Clock, type Instant, plusMs } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { countForgotten } from '../ports/blobs/tombstones-table.ts'
import type { Kind, RetentionSettings } from './policies/kinds.ts'
import { loadPolicies, type Policies } from './policies/policies.ts'
import { shelves } from './retention.ts'
import { selectCursor } from './targets/cursors-table.ts'
import { countWhile, dayMs, isKeptFor } from './targets/scan.ts'
import type { Kept, Shelf } from './targets/target.ts'

export interface Amount {
  readonly items: number
  /** What it frees, at most: the same bytes may be kept for others. */
  readonly bytes: number
}

/** What would go of one kind, of one organization and brand. */
export interface Planned {
  readonly kind: Kind
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'> | null
  readonly days: number
  readonly now: Amount
  /** What goes within the next 30 days, without what goes now. */
  readonly soon: Amount
}

export interface Plan {
  readonly planned: readonly Planned[]
  /** Blobs that nothing refers to any more; each goes seven days after that was seen. */
  readonly forgotten: Amount
}

const soonMs = 30 * dayMs
const atOnce = 1000
const none: Amount = { items: 0, bytes: 0 }

/** What would go now and within 30 days, and changes nothing. Goes through all that is old enough; `told` hears how much. */
export async function planRetention(
  { db, clock, settings }: { readonly db: Db; readonly clock: Clock; readonly settings: RetentionSettings },
  told: (items: number) => void = () => undefined,
): Promise<Plan> {
  const policies = await loadPolicies(db, settings)
  const planned = new Map<string, Planned>()
  let items = 0
  for (const shelf of shelves)
    for (const days of policies.timesOf(shelf.kind))
      for await (const each of going({ db, policies }, shelf, days, plusMs(clock.now(), soonMs))) {
        add(planned, { ...each, kind: shelf.kind, days, isNow: goesAt(each, days) <= clock.now() })
        told(++items)
      }
  const { count, bytes } = await countForgotten(db)
  return { planned: [...planned.values()], forgotten: { items: count, bytes } }
}

function goesAt({ countsFrom }: Kept, days: number): Instant {
  return plusMs(countsFrom, days * dayMs)
}

/** What is kept for so many days and goes by then, from where the walk is. */
async function* going(
  { db, policies }: { readonly db: Db; readonly policies: Policies },
  shelf: Shelf,
  days: number,
  by: Instant,
): AsyncGenerator<Kept> {
  const before = plusMs(by, -days * dayMs)
  for (let after: string | undefined = await selectCursor(db, shelf.name, days); after !== undefined; ) {
    const found = await shelf.next(db, after, before, atOnce)
    const past = found.slice(
      0,
      countWhile(found, each => each.placedAt < before),
    )
    for (const each of past)
      if (!each.isCleared && !each.isHeld && isKeptFor(days, shelf, each, policies) && goesAt(each, days) <= by)
        yield each
    after = past.length === atOnce ? past.at(-1)?.position : undefined
  }
}

function add(
  planned: Map<string, Planned>,
  { kind, organizationId, brandId, days, bytes, isNow }: Kept & { kind: Kind; days: number; isNow: boolean },
): void {
  const key = [kind, organizationId, brandId, days].join(' ')
  const known = planned.get(key) ?? { kind, organizationId, brandId, days, now: none, soon: none }
  const when = isNow ? 'now' : 'soon'
  planned.set(key, { ...known, [when]: { items: known[when].items + 1, bytes: known[when].bytes + bytes } })
}
