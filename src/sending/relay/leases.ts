import { type Clock, type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import { gauge } from '../../base/observability/metrics.ts'
import { type ClaimedRecipient, updateLeaseEnds } from './outbox.ts'

/** What this process has taken from the outbox and not settled yet. */
export interface OutboxLeases {
  readonly size: number
  /** Of these, how many wait for their submission or are in it. */
  readonly unsubmitted: number
  add(claimed: readonly ClaimedRecipient[], until: Instant): void
  /** Is the lease sure not to have run out, so that nobody else submits the same? */
  isValid(claimed: ClaimedRecipient): boolean
  /** Its submission is over; it is still to be settled. */
  markSubmitted(claimed: ClaimedRecipient): void
  release(claimed: ClaimedRecipient): void
  stop(): void
}

const heldGauge = gauge('mailroom_outbox_held', 'Recipients taken from the outbox and not settled yet.')

/** Keeps leases alive, every third of their length, in one statement for all. */
export function startOutboxLeases(deps: {
  readonly db: Db
  readonly leaseMs: number
  readonly clock: Clock
  readonly log: Log
  /** There is room for another. */
  readonly onRoom: () => void
}): OutboxLeases {
  const { db, leaseMs, clock, log } = deps
  const held = new Map<Id<'out'>, { readonly claimed: ClaimedRecipient; until: Instant; isAhead: boolean }>()
  let ahead = 0

  async function renew(): Promise<void> {
    const before = [...held.values()]
    const until = plusMs(clock.now(), leaseMs)
    try {
      const claimed = before.map(each => each.claimed)
      // A transaction is taken up again after a deadlock with what settles at the same time.
      await inTransaction(db, tx => updateLeaseEnds(tx, claimed, until))
      for (const each of before) each.until = until
    } catch (error) {
      log.error({ err: error, held: before.length }, 'could not renew leases')
    }
  }

  const timer = setInterval(() => void renew(), leaseMs / 3)
  return {
    get size() {
      return held.size
    },
    get unsubmitted() {
      return ahead
    },
    add(claimed, until) {
      for (const claimedRecipient of claimed)
        held.set(claimedRecipient.id, { claimed: claimedRecipient, until, isAhead: true })
      ahead += claimed.length
      heldGauge.set(held.size)
    },
    isValid: claimed => {
      const own = held.get(claimed.id)
      return own?.claimed === claimed && own.until > clock.now()
    },
    markSubmitted(claimed) {
      const own = held.get(claimed.id)
      if (own?.claimed !== claimed || !own.isAhead) return
      own.isAhead = false
      ahead--
      deps.onRoom()
    },
    release(claimed) {
      this.markSubmitted(claimed)
      if (held.get(claimed.id)?.claimed === claimed) held.delete(claimed.id)
      heldGauge.set(held.size)
      deps.onRoom()
    },
    stop: () => clearInterval(timer),
  }
}
