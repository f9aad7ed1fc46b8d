import { type Clock, type Instant, millisecondsOf, plusMs } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import { gauge } from '../../base/observability/metrics.ts'
import {
  type Acceptance,
  type ClaimedRecipient,
  type FlowKey,
  flowName,
  selectStillLeased,
  updateLeaseEnds,
  updateSubmitting,
} from './outbox.ts'

export interface OutboxLeasesDeps {
  readonly db: Db
  /** How long a lease is valid without being renewed, in milliseconds. */
  readonly leaseMs: number
  readonly clock: Clock
  readonly log: Log
  /** Called when a recipient of a flow waits no longer. */
  readonly onFewerWaiting: (flow: FlowKey) => void
  /** Called when nothing is in hand any more. */
  readonly onEmpty: () => void
}

/**
 * A point in time by two clocks: the machine's may be set back, and the monotonic one may stand still while the machine is
 * suspended.
 */
export interface Moment {
  readonly now: Instant
  readonly monotonicMs: number
}

/** A flow of which so many recipients wait for their submission. */
interface WaitingFlow {
  readonly flow: FlowKey
  waiting: number
}

interface Lease {
  readonly claimed: ClaimedRecipient
  /** When the last statement that renewed it was sent. */
  renewedAt: Moment
  state: 'waiting' | 'submitting' | 'lost'
}

/** What is noted about a submission; null: that it begins. */
interface Note {
  readonly claimed: ClaimedRecipient
  readonly accepted: Acceptance | null
}

/**
 * Others leave alone what its owner noted as being submitted for so many more leases after the lease has run out: an owner
 * that was paused, or cut off from the database, then comes back and writes what the provider said.
 */
const graceLeases = 2

const claimedGauge = gauge('mailroom_outbox_held', 'Recipients claimed from the outbox and not settled yet.')

/**
 * The recipients that this process has in hand: claimed, and not settled yet. Renews all leases every third of their length.
 *
 * Why the provider gets no second copy while this process lives:
 * - What is in hand is never claimed again by this process, whatever its lease says.
 * - Just before a submission the row is noted as being submitted, under its lease, which is renewed by that: if another
 *   process has claimed it, nothing is noted and nothing submitted.
 * - The provider may accept the message only while the lease of that note is valid by our own clocks
 *   ({@link OutboxLeases.isStillOurs}, which the adapter asks as late as it can).
 * - Another process claims a noted row only when the lease and a grace have run out. Until then its owner can write the
 *   outcome, however long it was paused or without a database.
 */
export class OutboxLeases {
  private readonly deps: OutboxLeasesDeps
  private readonly leases = new Map<Id<'out'>, Lease>()
  private readonly waitingByFlow = new Map<string, WaitingFlow>()
  private readonly writeNote: (note: Note) => Promise<boolean>
  private readonly timer: ReturnType<typeof setInterval>
  private waitingCount = 0
  private isRenewing = false

  constructor(deps: OutboxLeasesDeps) {
    this.deps = deps
    this.writeNote = batched({ maxItems: 100, maxInFlight: 1 }, notes => this.writeNotes(notes))
    this.timer = setInterval(() => void this.renew(), deps.leaseMs / 3)
  }

  get size(): number {
    return this.leases.size
  }

  /** How many recipients wait for their submission. */
  get waiting(): number {
    return this.waitingCount
  }

  /** How many recipients of a flow wait for their submission. */
  waitingOf(flow: FlowKey): number {
    return this.waitingByFlow.get(flowName(flow))?.waiting ?? 0
  }

  waitingFlows(): Iterable<Readonly<WaitingFlow>> {
    return this.waitingByFlow.values()
  }

  has(id: Id<'out'>): boolean {
    return this.leases.has(id)
  }

  moment(): Moment {
    return { now: this.deps.clock.now(), monotonicMs: performance.now() }
  }

  /** @param claimedAt when the statement of the claim was sent, or before */
  add(recipients: readonly ClaimedRecipient[], claimedAt: Moment): void {
    for (const claimed of recipients) {
      this.leases.set(claimed.id, { claimed, renewedAt: claimedAt, state: 'waiting' })
      this.countWaiting(claimed, 1)
    }
    claimedGauge.set(this.leases.size)
  }

  /**
   * Notes durably that the recipient is about to be submitted. False: it is no longer ours, and must not be.
   * @throws the database's error; then the recipient must not be submitted either
   */
  async beginSubmission(claimed: ClaimedRecipient): Promise<boolean> {
    const lease = this.leases.get(claimed.id)
    if (!lease || lease.state === 'lost') return false
    if (lease.state === 'waiting') this.countWaiting(claimed, -1)
    // Before the statement: a renewal at the same time must not give a shorter lease to what is being submitted.
    lease.state = 'submitting'
    return this.writeNote({ claimed, accepted: null })
  }

  /** Notes durably that the provider has taken the recipient's message. False: the row is no longer ours. */
  noteAccepted(claimed: ClaimedRecipient, accepted: Acceptance): Promise<boolean> {
    return this.writeNote({ claimed, accepted })
  }

  /** Is it certain that no other process may claim the recipient yet? */
  isStillOurs(claimed: ClaimedRecipient): boolean {
    const lease = this.leases.get(claimed.id)
    return lease?.state === 'submitting' && this.elapsedMs(lease.renewedAt) < this.deps.leaseMs
  }

  /** It is settled, or lost: its lease is renewed no longer. */
  release(claimed: ClaimedRecipient): void {
    const lease = this.leases.get(claimed.id)
    if (lease?.claimed !== claimed) return
    if (lease.state === 'waiting') this.countWaiting(claimed, -1)
    this.leases.delete(claimed.id)
    claimedGauge.set(this.leases.size)
    if (this.leases.size === 0) this.deps.onEmpty()
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private async writeNotes(notes: readonly Note[]): Promise<readonly boolean[]> {
    const { db } = this.deps
    const sentAt = this.moment()
    const rows = notes.map(note => note.claimed)
    const written = notes.map(({ claimed: { id, lease }, accepted }) => ({ id, lease, accepted }))
    const count = await updateSubmitting(db, written, this.endOf(sentAt, 'submitting'))
    const leased = count === rows.length ? undefined : await selectStillLeased(db, rows)
    return notes.map(({ claimed, accepted }) => {
      const isOurs = leased?.has(claimed.id) ?? true
      if (!isOurs) this.setRenewed(claimed, undefined)
      else if (accepted === null) this.setRenewed(claimed, sentAt)
      return isOurs
    })
  }

  private async renew(): Promise<void> {
    // A statement that the database has not answered is not followed by another.
    if (this.isRenewing || this.leases.size === 0) return
    this.isRenewing = true
    try {
      await this.renewThose('waiting')
      await this.renewThose('submitting')
    } catch (error) {
      this.deps.log.error(
        { err: error, held: this.leases.size },
        'could not renew outbox leases; another relay may claim the recipients',
      )
    } finally {
      this.isRenewing = false
    }
  }

  private async renewThose(state: 'waiting' | 'submitting'): Promise<void> {
    const { db } = this.deps
    const rows = Array.from(this.leases.values()).flatMap(lease => (lease.state === state ? lease.claimed : []))
    if (rows.length === 0) return
    const sentAt = this.moment()
    // In a transaction because those are tried again after a deadlock with settlements.
    const count = await inTransaction(db, tx => updateLeaseEnds(tx, rows, this.endOf(sentAt, state)))
    const leased = count === rows.length ? undefined : await selectStillLeased(db, rows)
    for (const row of rows) this.setRenewed(row, leased?.has(row.id) === false ? undefined : sentAt)
  }

  /** Undefined: the lease is lost. */
  private setRenewed(claimed: ClaimedRecipient, at: Moment | undefined): void {
    const lease = this.leases.get(claimed.id)
    if (lease?.claimed !== claimed) return
    if (at) {
      if (at.monotonicMs > lease.renewedAt.monotonicMs) lease.renewedAt = at
      return
    }
    if (lease.state === 'waiting') this.countWaiting(claimed, -1)
    lease.state = 'lost'
  }

  private endOf({ now }: Moment, state: 'waiting' | 'submitting'): Instant {
    const { leaseMs } = this.deps
    return plusMs(now, state === 'waiting' ? leaseMs : leaseMs * (1 + graceLeases))
  }

  private elapsedMs(since: Moment): number {
    const byClock = millisecondsOf(this.deps.clock.now()) - millisecondsOf(since.now)
    return Math.max(byClock, performance.now() - since.monotonicMs)
  }

  private countWaiting(flow: FlowKey, change: 1 | -1): void {
    const name = flowName(flow)
    const counted = this.waitingByFlow.get(name) ?? { flow, waiting: 0 }
    counted.waiting += change
    this.waitingCount += change
    if (counted.waiting === 0) this.waitingByFlow.delete(name)
    else this.waitingByFlow.set(name, counted)
    if (change < 0) this.deps.onFewerWaiting(flow)
  }
}
