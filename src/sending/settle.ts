import { batched } from '../base/batch.ts'
import type { Clock } from '../base/clock.ts'
import { type Db, inTransaction } from '../base/database.ts'
import { type DeliveryEvent, recordEvents } from './events.ts'
import { type Claimed, lockHeld, removeRows, reschedule } from './outbox.ts'
import type { Next } from './outcome.ts'

/** What is to be written about one claimed recipient. */
export interface Settlement {
  readonly claimed: Claimed
  readonly next: Next
}

/**
 * Writes what became of claimed recipients: statuses, events, and the outbox row removed or given back. Many at the same
 * time share a transaction. False: the lease was lost, another has the recipient now, and nothing was written.
 */
export function settling(db: Db, clock: Clock): (settlement: Settlement) => Promise<boolean> {
  return batched({ maxItems: 100, maxUnderWay: 1 }, settlements =>
    inTransaction(db, async tx => {
      const held = await lockHeld(
        tx,
        settlements.map(each => each.claimed),
      )
      const isOurs = ({ claimed }: Settlement) => held.get(claimed.id) === claimed.lease
      const ours = settlements.filter(isOurs)
      await recordEvents(
        tx,
        ours.flatMap(each => each.next.event ?? ([] as DeliveryEvent[])),
        clock.now(),
      )
      await removeRows(
        tx,
        ours.filter(each => each.next.kind === 'end').map(each => each.claimed.id),
      )
      await reschedule(
        tx,
        ours.flatMap(({ claimed, next }) => (next.kind === 'retry' ? { ...next, id: claimed.id } : [])),
      )
      return settlements.map(isOurs)
    }),
  )
}
