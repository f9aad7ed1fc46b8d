import { type Clock, type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import { gauge } from '../../base/observability/metrics.ts'
import { type Claimed, renewLeases } from './outbox.ts'

/** What this process has taken from the outbox and not settled yet. */
export interface Leases {
  readonly size: number
  /** Of these, how many wait for their submission or are in it. */
  readonly ahead: number
  hold(claimed: readonly Claimed[], until: Instant): void
  /** Is the lease sure not to have run out, so that nobody else submits the same? */
  isSafe(claimed: Claimed): boolean
  /** Its submission is over; it is still to be settled. */
  submitted(claimed: Claimed): void
  letGo(claimed: Claimed): void
  stop(): void
}

const heldGauge = gauge('mailroom_outbox_held', 'Recipients taken from the outbox and not settled yet.')

/** Keeps leases alive, every third of their length, in one statement for all. */
export function keepLeases(use: {
  readonly db: Db
  readonly leaseMs: number
  readonly clock: Clock
  readonly log: Log
  /** There is room for another. */
  readonly onRoom: () => void
}): Leases {
  const { db, leaseMs, clock, log } = use
  const held = new Map<Id<'out'>, { readonly claimed: Claimed; until: Instant; isAhead: boolean }>()
  let ahead = 0

  async function renew(): Promise<void> {
    const before = [...held.values()]
    const until = plusMs(clock.now(), leaseMs)
    try {
      const claimed = before.map(each => each.claimed)
      // A transaction is taken up again after a deadlock with what settles at the same time.
      await inTransaction(db, tx => renewLeases(tx, claimed, until))
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
    get ahead() {
      return ahead
    },
    hold(claimed, until) {
      for (const each of claimed) held.set(each.id, { claimed: each, until, isAhead: true })
      ahead += claimed.length
      heldGauge.set(held.size)
    },
    isSafe: claimed => {
      const own = held.get(claimed.id)
      return own?.claimed === claimed && own.until > clock.now()
    },
    submitted(claimed) {
      const own = held.get(claimed.id)
      if (own?.claimed !== claimed || !own.isAhead) return
      own.isAhead = false
      ahead--
      use.onRoom()
    },
    letGo(claimed) {
      this.submitted(claimed)
      if (held.get(claimed.id)?.claimed === claimed) held.delete(claimed.id)
      heldGauge.set(held.size)
      use.onRoom()
    },
    stop: () => clearInterval(timer),
  }
}
