import { type Instant, millisecondsOf } from '../../base/clock.ts'
import { newWakeup } from '../../base/concurrency/wakeup.ts'
import { type FailureLog, failureLog } from '../../base/observability/failure-log.ts'
import { Deliverer, type DelivererDeps } from './deliver.ts'
import { ClaimLimits } from './flows/claim-limits.ts'
import { FlowScheduler } from './flows/flow-scheduler.ts'
import { OutboxLeases } from './leases.ts'
import { selectOldestDueAt } from './outbox.ts'
import { ProviderHealth } from './provider-health.ts'

export interface RelayDeps
  extends Pick<
    DelivererDeps,
    'db' | 'blobs' | 'provider' | 'signingKeys' | 'reversePaths' | 'clock' | 'log' | 'attemptMs'
  > {
  /** The wait before the second attempt, in milliseconds. */
  readonly retryFirstMs: number
  /** How long a claim is valid without being renewed, in milliseconds; 30 s by default. */
  readonly leaseMs?: number
}

const defaultLeaseMs = 30_000
/** How often the outbox is looked at when nobody calls {@link Relay.wake}, in milliseconds. */
export const relayPollMs = 250
/** While there is room for nothing that is due, what is accepted is looked at so often, in milliseconds. */
const fullPollMs = 25
/** From one claim of several emails to the next, in milliseconds, while nothing else is due. */
const claimIntervalMs = 25
const afterErrorMs = 1000
const expirySweepMs = 5000

/**
 * The worker that delivers accepted emails: it claims from the outbox as long as there is room ({@link ClaimLimits}), and
 * {@link Deliverer} does the rest. Any number of processes may share an outbox: what is claimed is leased, and submitted only
 * after that is committed.
 */
export class Relay {
  private readonly deps: RelayDeps
  private readonly health: ProviderHealth
  private readonly scheduler: FlowScheduler
  private readonly leases: OutboxLeases
  private readonly limits: ClaimLimits
  private readonly deliverer: Deliverer
  /** Notified when something may be due, or when there is room for what is due. */
  private readonly wakeup = newWakeup()
  /** Notified when there is room again; since the last claim began. */
  private room = newWakeup()
  private readonly failures: FailureLog
  private readonly running: Promise<void>
  private isStopping = false
  /** May something be due that was not looked for yet? */
  private isDue = true
  /** Was more due at the last claim than was claimed? */
  private isBacklog = false
  private sweptAtMs = 0

  /** Starts at once. */
  constructor(deps: RelayDeps) {
    const { db, clock, log, provider, leaseMs = defaultLeaseMs, retryFirstMs } = deps
    const { name, maxConcurrentSubmissions } = provider.traits
    this.deps = deps
    this.failures = failureLog(
      log,
      {},
      { failed: 'could not claim from the outbox; it will be tried again', recovered: 'claims from the outbox again' },
    )
    this.health = new ProviderHealth(name, clock, log)
    this.scheduler = new FlowScheduler(maxConcurrentSubmissions, () => this.wakeForRoom())
    this.leases = new OutboxLeases({
      db,
      leaseMs,
      clock,
      log,
      onFewerWaiting: flow => this.limits.isLow(flow) && this.wakeForRoom(),
      // While the circuit breaker is open the next probe waits for that.
      onEmpty: () => this.health.openUntil() !== undefined && this.wakeup.notify(),
    })
    this.limits = new ClaimLimits(maxConcurrentSubmissions, this.scheduler, this.leases)
    this.deliverer = new Deliverer({
      ...deps,
      leaseMs,
      health: this.health,
      leases: this.leases,
      scheduler: this.scheduler,
      retry: { firstMs: retryFirstMs, random: Math.random },
      isStopping: () => this.isStopping,
    })
    this.running = this.run()
  }

  /** Something may be due: looks at once. */
  wake(): void {
    this.isDue = true
    this.wakeup.notify()
  }

  /** Since when the circuit breaker for all mail is open, and the reply that opened it; null: it is closed. */
  openBreaker(): ReturnType<ProviderHealth['openBreaker']> {
    return this.health.openBreaker()
  }

  /** Claims nothing more, lets the submissions end whose message is being transmitted, and gives the rest back. */
  async stop(): Promise<void> {
    this.isStopping = true
    this.deliverer.withdraw()
    this.wakeForRoom()
    await this.running
    this.scheduler.giveBack()
    await this.deliverer.drain()
    this.leases.stop()
  }

  private wakeForRoom(): void {
    this.room.notify()
    this.wake()
  }

  private async run(): Promise<void> {
    while (!this.isStopping)
      try {
        await this.poll()
        this.failures.succeeded()
      } catch (error) {
        this.failures.failed(error, { retry_in_ms: afterErrorMs })
        this.isDue = true
        await this.wakeup.wait(afterErrorMs)
      }
  }

  /** Looks at the outbox once; resolves when it is time for the next look. */
  private async poll(): Promise<void> {
    const openUntil = this.health.openUntil()
    if (openUntil !== undefined) return this.pollWhileOpen(openUntil)
    this.limits.giveBackSurplus()
    this.room = newWakeup()
    const maxRows = this.limits.room()
    if (maxRows === 0) return this.wakeup.wait(relayPollMs)
    if (!this.isDue) {
      const waitMs = await this.msUntilDue()
      if (waitMs > 0) return this.wakeup.wait(waitMs)
    }
    this.isDue = false
    const began = performance.now()
    const { claimed, isMoreDue, hasRoom } = await this.claim(maxRows, false)
    if (claimed > 0 && isMoreDue) this.isDue = true
    // Nothing that is due is for us now: it is in hand, or of flows of which enough is in hand.
    if (isMoreDue && !hasRoom) return this.waitForRoom()
    // A claim costs much and each further email little: what many clients send next is claimed together.
    if (claimed > 1 && !isMoreDue) await Bun.sleep(Math.max(0, claimIntervalMs - (performance.now() - began)))
  }

  /** What is accepted meanwhile may be of a flow for which there is room; a claim for each of them would find nothing mostly. */
  private async waitForRoom(): Promise<void> {
    const began = performance.now()
    await this.room.wait(fullPollMs)
    if (performance.now() - began >= fullPollMs) await this.wakeup.wait(relayPollMs - fullPollMs)
  }

  /** While the circuit breaker is open: one email at a time probes the provider, and expired emails are still ended. */
  private async pollWhileOpen(openUntil: Instant): Promise<void> {
    if (this.leases.size > 0) return this.wakeup.wait(relayPollMs)
    const waitMs = this.msUntil(openUntil)
    if (waitMs <= 0) {
      const { claimed } = await this.claim(1, false)
      return claimed === 0 ? this.wakeup.wait(relayPollMs) : undefined
    }
    if (performance.now() - this.sweptAtMs >= expirySweepMs) {
      this.sweptAtMs = performance.now()
      await this.claim(this.limits.room(), true)
    }
    return this.wakeup.wait(Math.min(relayPollMs, waitMs))
  }

  private async claim(maxRows: number, expiredOnly: boolean) {
    const claim = await this.deliverer.claim({
      maxRows,
      expiredOnly,
      isBacklog: this.isBacklog,
      // What has expired is not submitted.
      roomOf: flow => (expiredOnly ? maxRows : this.limits.roomOf(flow)),
    })
    this.isBacklog = claim.isMoreDue
    return claim
  }

  /** Until the next recipient is due, in milliseconds, at most the poll interval. */
  private async msUntilDue(): Promise<number> {
    const dueAt = await selectOldestDueAt(this.deps.db)
    return dueAt === undefined ? relayPollMs : Math.min(relayPollMs, this.msUntil(dueAt))
  }

  private msUntil(at: Instant): number {
    return millisecondsOf(at) - millisecondsOf(this.deps.clock.now())
  }
}

/** Starts the relay of this process. */
export function startRelay(deps: RelayDeps): Relay {
  return new Relay(deps)
}
