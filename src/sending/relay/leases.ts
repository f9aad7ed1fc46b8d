import { type Clock, type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import { gauge } from '../../base/observability/metrics.ts'
import { type ClaimedRecipient, updateLeaseEnds } from './outbox.ts'

export interface OutboxLeasesDeps {
  readonly db: Db
  /** How long a lease is valid without being renewed, in milliseconds. */
  readonly leaseMs: number
  readonly clock: Clock
  readonly log: Log
  /** Called when a recipient has been submitted or settled, so that more may be claimed. */
  readonly onCapacity: () => void
}

interface Lease {
  readonly claimed: ClaimedRecipient
  until: Instant
  isSubmitted: boolean
}

const claimedGauge = gauge('mailroom_outbox_held', 'Recipients claimed from the outbox and not settled yet.')

/** The recipients that this process has claimed and not settled yet. Renews all leases every third of their length. */
export class OutboxLeases {
  private readonly deps: OutboxLeasesDeps
  private readonly leases = new Map<Id<'out'>, Lease>()
  private readonly timer: ReturnType<typeof setInterval>
  private unsubmittedCount = 0

  constructor(deps: OutboxLeasesDeps) {
    this.deps = deps
    this.timer = setInterval(() => void this.renew(), deps.leaseMs / 3)
  }

  get size(): number {
    return this.leases.size
  }

  /** How many wait for their submission or are being submitted. */
  get unsubmitted(): number {
    return this.unsubmittedCount
  }

  add(recipients: readonly ClaimedRecipient[], until: Instant): void {
    for (const claimed of recipients) this.leases.set(claimed.id, { claimed, until, isSubmitted: false })
    this.unsubmittedCount += recipients.length
    claimedGauge.set(this.leases.size)
  }

  /** Is it certain that no other process can have claimed the recipient? */
  isValid(claimed: ClaimedRecipient): boolean {
    const lease = this.leases.get(claimed.id)
    return lease?.claimed === claimed && lease.until > this.deps.clock.now()
  }

  /** Its submission is over; it is still to be settled. */
  markSubmitted(claimed: ClaimedRecipient): void {
    const lease = this.leases.get(claimed.id)
    if (lease?.claimed !== claimed || lease.isSubmitted) return
    lease.isSubmitted = true
    this.unsubmittedCount--
    this.deps.onCapacity()
  }

  /** It is settled: its lease is renewed no longer. */
  release(claimed: ClaimedRecipient): void {
    this.markSubmitted(claimed)
    if (this.leases.get(claimed.id)?.claimed === claimed) this.leases.delete(claimed.id)
    claimedGauge.set(this.leases.size)
    this.deps.onCapacity()
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private async renew(): Promise<void> {
    const { db, leaseMs, clock, log } = this.deps
    const leases = [...this.leases.values()]
    const until = plusMs(clock.now(), leaseMs)
    try {
      const recipients = leases.map(lease => lease.claimed)
      // In a transaction because those are tried again after a deadlock with settlements.
      await inTransaction(db, tx => updateLeaseEnds(tx, recipients, until))
      for (const lease of leases) lease.until = until
    } catch (error) {
      log.error(
        { err: error, held: leases.length },
        'could not renew outbox leases; another relay may claim the recipients',
      )
    }
  }
}
