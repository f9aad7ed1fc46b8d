import type { Clock } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { DeliveryEvent } from '../events/delivery-event.ts'
import { recordEvents } from '../events/events.ts'
import { classifyBounce } from '../reports/classify-bounce.ts'
import { type DeliveryReport, recordReports } from '../reports/reports.ts'
import { type ClaimedRecipient, deleteOutboxRows, lockLeasedRows, updateRescheduled } from './outbox.ts'
import type { NextStep } from './outcome.ts'

/** What is to be written about one claimed recipient. */
export interface Settlement {
  readonly claimed: ClaimedRecipient
  readonly next: NextStep
}

/**
 * Writes what became of claimed recipients: statuses, events, and the outbox row removed or given back. Many at the same
 * time share a transaction. False: the lease was lost, another has the recipient now, and nothing was written.
 */
export function settling(db: Db, clock: Clock): (settlement: Settlement) => Promise<boolean> {
  return batched({ maxItems: 100, maxInFlight: 1 }, settlements =>
    inTransaction(db, async tx => {
      const held = await lockLeasedRows(
        tx,
        settlements.map(settlement => settlement.claimed),
      )
      const isOurs = ({ claimed }: Settlement) => held.get(claimed.id) === claimed.lease
      const ours = settlements.filter(isOurs)
      const events = ours.flatMap(our => our.next.event ?? ([] as DeliveryEvent[]))
      const bounces = events.flatMap(event => bounceReport(event) ?? [])
      if (bounces.length > 0) await recordReports(tx, bounces, clock.now())
      await recordEvents(
        tx,
        events.filter(event => event.type !== 'bounced'),
        clock.now(),
      )
      await deleteOutboxRows(
        tx,
        ours.filter(our => our.next.kind === 'end').map(our => our.claimed.id),
      )
      await updateRescheduled(
        tx,
        ours.flatMap(({ claimed, next }) => (next.kind === 'retry' ? { ...next, id: claimed.id } : [])),
      )
      return settlements.map(isOurs)
    }),
  )
}

/** A refusal of the recipient may keep them from further mail; null: it is no bounce. */
function bounceReport(event: DeliveryEvent): DeliveryReport | null {
  const { type, recipient, smtpCode = null, enhancedCode = null, detail = null } = event
  if (type !== 'bounced' || recipient === null) return null
  return { event: { ...event, recipient }, bounce: classifyBounce({ smtpCode, enhancedCode, text: detail }) }
}
