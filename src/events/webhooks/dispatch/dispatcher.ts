import { millisecondsOf, plusMs } from '../../../base/clock.ts'
import { newWakeup } from '../../../base/concurrency/wakeup.ts'
import { type Id, newSortableToken } from '../../../base/ids.ts'
import { failureLog } from '../../../base/observability/failure-log.ts'
import { claimWebhooks, renewWebhookLeases, selectPendingWebhooks } from './claim-table.ts'
import type { DispatchDeps } from './dispatch-deps.ts'
import { EndpointWorker } from './endpoint-worker.ts'
import { FairSlots } from './fair-slots.ts'

/** How often deliveries that are due again are looked for, in milliseconds. */
export const dispatchPollMs = 1000
const defaultLeaseMs = 30_000
/** Looks that new events cause come no closer than this. */
const minPollMs = 50
/** Attempts in progress in this process; fetches of the whole process share 256 connections in Bun. */
const maxAttempts = 128
const maxAttemptsPerOrganization = 32
/** Webhooks that this process delivers to at the same time. Of each, at most 16 events and 16 deliveries are in memory. */
const maxPending = 2000
const withdrawAfterMs = 4000

/** A webhook that this process has leased. */
interface LeasedWebhook {
  readonly worker: EndpointWorker
  /** When the last statement was sent that renewed the lease, by two clocks: either may stand still. */
  renewedAt: { readonly clockMs: number; readonly monotonicMs: number }
  isLost: boolean
}

/**
 * Delivers events to webhooks. Any number of processes share them: each webhook is leased to one, which makes all its
 * attempts, so that no more than four are in flight at it in all. A lease is renewed every third of its length; an attempt
 * begins only while it is certain to hold, and what became of it is written only under it.
 */
export class WebhookDispatcher {
  private readonly deps: DispatchDeps
  private readonly leaseMs: number
  private readonly holder = newSortableToken()
  private readonly slots = new FairSlots(maxAttempts, maxAttemptsPerOrganization)
  private readonly leased = new Map<Id<'whk'>, LeasedWebhook>()
  private readonly withdrawal = new AbortController()
  private readonly wakeup = newWakeup()
  private readonly renewal: ReturnType<typeof setInterval>
  private readonly unsubscribe: () => void
  private readonly running: Promise<void>
  private isRenewing = false
  private isStopping = false

  /** Starts at once. @param leaseMs how long a lease is valid without being renewed, in milliseconds */
  constructor(deps: DispatchDeps, leaseMs = defaultLeaseMs) {
    this.deps = deps
    this.leaseMs = leaseMs
    this.renewal = setInterval(() => void this.renew(), leaseMs / 3)
    this.unsubscribe = deps.sequenceWatch.subscribe(() => this.wakeup.notify())
    this.running = this.run()
  }

  /** Begins no further attempt, gives those in progress some seconds, and gives the leases back. */
  async stop(): Promise<void> {
    this.isStopping = true
    this.unsubscribe()
    this.wakeup.notify()
    await this.running
    const workers = [...this.leased.values()].map(({ worker }) => worker)
    for (const worker of workers) worker.end()
    const timer = setTimeout(() => this.withdrawal.abort(new Error('the process stops')), withdrawAfterMs)
    await Promise.all(workers.map(worker => worker.ended))
    clearTimeout(timer)
    clearInterval(this.renewal)
  }

  private async run(): Promise<void> {
    const failures = failureLog(
      this.deps.log,
      {},
      {
        failed: 'could not look for webhooks to deliver to; it will be tried again',
        recovered: 'delivers to webhooks again',
      },
    )
    while (!this.isStopping) {
      try {
        await this.poll()
        failures.succeeded()
      } catch (error) {
        failures.failed(error, { retry_in_ms: dispatchPollMs })
      }
      await Bun.sleep(minPollMs)
      await this.wakeup.wait(dispatchPollMs)
    }
  }

  /** Wakes the workers that have something to do, and leases what nobody delivers to. */
  private async poll(): Promise<void> {
    const { db, clock } = this.deps
    const { holder } = this
    const now = clock.now()
    const pending = await selectPendingWebhooks(db, { holder, now, limit: maxPending })
    for (const id of pending) this.leased.get(id)?.worker.wake()
    const free = pending.filter(id => !this.leased.has(id))
    const renewedAt = this.moment()
    const claimed = await claimWebhooks(db, free, { holder, now, until: plusMs(now, this.leaseMs) })
    if (this.isStopping) return
    for (const id of claimed) this.start(id, renewedAt)
  }

  private start(id: Id<'whk'>, renewedAt: LeasedWebhook['renewedAt']): void {
    const lease: { current?: LeasedWebhook } = {}
    const worker = new EndpointWorker(id, {
      ...this.deps,
      holder: this.holder,
      slots: this.slots,
      isLeased: () => lease.current === undefined || this.isValid(lease.current),
      withdrawal: this.withdrawal.signal,
    })
    const leased: LeasedWebhook = { worker, renewedAt, isLost: false }
    lease.current = leased
    this.leased.set(id, leased)
    void worker.ended.then(() => {
      this.leased.delete(id)
      // What came while it ended.
      this.wakeup.notify()
    })
  }

  private isValid({ isLost, renewedAt }: LeasedWebhook): boolean {
    const now = this.moment()
    const elapsedMs = Math.max(now.clockMs - renewedAt.clockMs, now.monotonicMs - renewedAt.monotonicMs)
    return !isLost && elapsedMs < this.leaseMs
  }

  private moment(): LeasedWebhook['renewedAt'] {
    return { clockMs: millisecondsOf(this.deps.clock.now()), monotonicMs: performance.now() }
  }

  private async renew(): Promise<void> {
    // A statement that the database has not answered is not followed by another.
    if (this.isRenewing || this.leased.size === 0) return
    this.isRenewing = true
    const { db, clock, log } = this.deps
    try {
      const all = new Map(this.leased)
      const sentAt = this.moment()
      const until = plusMs(clock.now(), this.leaseMs)
      const ours = await renewWebhookLeases(db, [...all.keys()], { holder: this.holder, until })
      for (const [id, lease] of all)
        if (ours.has(id)) lease.renewedAt = sentAt
        else lease.isLost = true
    } catch (error) {
      log.error(
        { err: error, webhooks: this.leased.size },
        'could not renew the leases of webhooks; another process may deliver to them',
      )
    } finally {
      this.isRenewing = false
    }
  }
}
