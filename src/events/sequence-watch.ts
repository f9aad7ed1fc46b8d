import { startJob } from '../base/concurrency/background-job.ts'
import { newWakeup } from '../base/concurrency/wakeup.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import type { Log } from '../base/observability/log.ts'
import type { EventType } from './event-types.ts'
import { selectLastSequence, selectTypesIn } from './table.ts'

/** That readers can see more than before. */
export interface SequenceAdvance {
  /** The sequence of the newest event. */
  readonly last: number
  /** The types of the events that are new, by organization; null: it is not known what is new, and may be anything. */
  readonly changed: ReadonlyMap<Id<'org'>, ReadonlySet<EventType>> | null
}

/**
 * Notifies this process of new events: all who wait for some share one look at the database each 200 ms, and there is
 * none while nobody waits.
 */
export interface SequenceWatch {
  /**
   * Calls `listener` when there are new events; the first one also when it begins. Whoever subscribes first, and reads then, misses
   * none. Gives the function that ends the subscription.
   */
  subscribe(listener: (advance: SequenceAdvance) => void): () => void
  /** Looks at once, because this process knows that there are new events. */
  poll(): void
  close(): Promise<void>
}

/** How often there is a look, in milliseconds. */
export const watchPollMs = 200
/** Nobody waits; whoever subscribes ends this. */
const idleMs = 60_000
/** Of more new events than this the types are not looked up: `changed` is null. */
const maxListed = 5000

export function watchSequence({ db, log }: { readonly db: Db; readonly log: Log }): SequenceWatch {
  const listeners = new Set<(advance: SequenceAdvance) => void>()
  const wakeup = newWakeup()
  /** The last sequence that the listeners know of; undefined: there was none to know it. */
  let known: number | undefined

  async function look(): Promise<void> {
    const last = await selectLastSequence(db)
    const after = known
    if (last === after) return
    const changed = after === undefined || last - after > maxListed ? null : await changedTypes(db, after, last)
    known = last
    for (const listener of [...listeners]) listener({ last, changed })
  }

  const job = startJob({ name: 'event-watch', intervalMs: 0, log }, async signal => {
    if (listeners.size === 0) known = undefined
    await wakeup.wait(listeners.size === 0 ? idleMs : watchPollMs)
    if (!signal.aborted && listeners.size > 0) await look()
    return 'done'
  })

  return {
    subscribe(listener) {
      listeners.add(listener)
      if (listeners.size === 1) wakeup.notify()
      return () => listeners.delete(listener)
    },
    poll: () => wakeup.notify(),
    async close() {
      const stopped = job.stop()
      wakeup.notify()
      await stopped
    },
  }
}

async function changedTypes(
  db: Db,
  after: number,
  through: number,
): Promise<ReadonlyMap<Id<'org'>, ReadonlySet<EventType>>> {
  const changed = new Map<Id<'org'>, Set<EventType>>()
  for (const { organization_id, type } of await selectTypesIn(db, { after, through }))
    changed.set(organization_id, (changed.get(organization_id) ?? new Set()).add(type))
  return changed
}
