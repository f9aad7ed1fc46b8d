import type { OutboxLeases } from '../leases.ts'
import type { FlowKey } from '../outbox.ts'
import type { FlowScheduler } from './flow-scheduler.ts'
import type { FlowSpeed } from './flow-speeds.ts'

/** Recipients in hand besides those that wait: with a connection, or with an outcome that cannot be written alone. */
const maxUnwritten = 200

/**
 * How much is claimed ahead of its submission. Enough that no connection waits for the database, and of each flow so
 * little that there is always room for the others: of one that is fast eight times as many recipients as there are
 * connections, of all that are slow half as many together, and in all sixteen times as many.
 */
export class ClaimLimits {
  private readonly waitingOf: Readonly<Record<FlowSpeed, number>>
  private readonly maxWaiting: number
  private readonly minClaim: number
  private readonly maxSlow: number
  private readonly maxInHand: number
  private readonly scheduler: FlowScheduler
  private readonly leases: OutboxLeases

  constructor(connections: number, scheduler: FlowScheduler, leases: OutboxLeases) {
    this.waitingOf = { fast: 8 * connections, slow: connections, unknown: 4 }
    this.maxSlow = 4 * connections
    this.maxWaiting = 16 * connections
    this.minClaim = connections
    this.maxInHand = this.maxWaiting + connections + maxUnwritten
    this.scheduler = scheduler
    this.leases = leases
  }

  /** How many recipients may be claimed: none while it would be only a few. */
  room(): number {
    const { waiting, size } = this.leases
    const room = Math.min(this.maxWaiting - waiting, this.maxInHand - size)
    return room < this.minClaim ? 0 : room
  }

  /** How many recipients of this flow may be claimed: none until half of what was claimed has been begun. */
  roomOf(flow: FlowKey): number {
    const speed = this.scheduler.speedOf(flow)
    const limit = this.waitingOf[speed]
    const waiting = this.leases.waitingOf(flow)
    if (waiting > limit / 2 || (speed === 'slow' && this.slowWaiting() >= this.maxSlow / 2)) return 0
    return limit - waiting
  }

  /** Has the flow, or have all together, just come to the point at which more may be claimed? */
  isLow(flow: FlowKey): boolean {
    const limit = this.waitingOf[this.scheduler.speedOf(flow)]
    return this.leases.waitingOf(flow) === Math.floor(limit / 2) || this.leases.waiting === this.maxWaiting / 2
  }

  /** Gives back what was claimed of flows before it was known that they are slow, as far as it leaves no room for others. */
  giveBackSurplus(): void {
    if (this.slowWaiting() > this.maxSlow) this.scheduler.giveBack(this.maxSlow)
  }

  private slowWaiting(): number {
    let count = 0
    for (const { flow, waiting } of this.leases.waitingFlows())
      if (this.scheduler.speedOf(flow) === 'slow') count += waiting
    return count
  }
}
