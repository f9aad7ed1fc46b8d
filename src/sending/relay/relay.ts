import { type Instant, millisecondsOf, plusMs } from '../../base/clock.ts'
import { newWakeup } from '../../base/concurrency/wakeup.ts'
import { timed } from '../../base/observability/metrics.ts'
import { type DelivererDeps, newDeliverer } from './deliver.ts'
import { roundRobinFlows } from './fair-queue.ts'
import { startOutboxLeases } from './leases.ts'
import { claimDueRows, selectOldestDueAt } from './outbox.ts'
import { newProviderHealth } from './provider-health.ts'

export interface RelayDeps
  extends Pick<
    DelivererDeps,
    'db' | 'blobs' | 'provider' | 'signingKeys' | 'reversePaths' | 'clock' | 'log' | 'attemptMs'
  > {
  /** The wait before the second attempt, in milliseconds. */
  readonly retryFirstMs: number
  /** How long a claim holds without being renewed, in milliseconds; 30 s unless given. */
  readonly leaseMs?: number
}

/** The worker that takes accepted emails to the provider. */
export interface Relay {
  /** Something may be due: looks at once. */
  wake(): void
  /** Takes nothing more, lets what is under way end, gives the rest back. */
  stop(): Promise<void>
}

/** How often the outbox is looked at when nobody calls {@link Relay.wake}, in milliseconds. */
export const relayPollMs = 250
const afterTroubleMs = 1000
const expirySweepMs = 5000
/** Submitted and waiting to be written, at most. */
const maxSettling = 200

/**
 * The way out after 202: claim → read → date → sign → submit → settle (carry.ts). Any number of processes may share an
 * outbox: what is taken is leased, and submitted only after the claim's commit. Claims are ahead of the submissions, by two
 * to four times as many as there may be at once, so that these do not wait for the database.
 */
export function startRelay(deps: RelayDeps): Relay {
  const { db, clock, log, provider, leaseMs = 30_000 } = deps
  const minRoom = 2 * provider.traits.maxConcurrentSubmissions
  const maxAhead = 4 * provider.traits.maxConcurrentSubmissions
  const maxHeld = maxAhead + maxSettling
  const asked = newWakeup()
  const settled = newWakeup()
  const leases = startOutboxLeases({ db, leaseMs, clock, log, onRoom: () => settled.notify() })
  const route = newProviderHealth(provider.traits.name, clock, log)
  const retry = { firstMs: deps.retryFirstMs, random: Math.random }
  const carrier = newDeliverer({ ...deps, route, leases, retry, isStopping: () => isStopping })
  const nextLanes = roundRobinFlows()
  const underWay = new Set<Promise<void>>()
  let isStopping = false
  let isAsked = true
  let sweptAt = 0

  async function take(want: number, expiredOnly: boolean): Promise<number> {
    const now = clock.now()
    const claimed = await timed('out', 'claim', () =>
      claimDueRows(db, { maxRows: want, leaseMs, now, expiredOnly }, (tx, count) => nextLanes(tx, count, now)),
    )
    leases.add(claimed, plusMs(now, leaseMs))
    const carried = carrier.deliver(claimed).finally(() => underWay.delete(carried))
    underWay.add(carried)
    return claimed.length
  }

  /** One look at the outbox. Done when it is time for the next. */
  async function look(): Promise<void> {
    const heldUntil = route.openUntil()
    if (heldUntil !== undefined) return lookWhileHeld(heldUntil)
    const room = Math.min(maxAhead - leases.unsubmitted, maxHeld - leases.size)
    if (room < minRoom || carrier.isBehind()) return settled.wait(relayPollMs)
    if (!isAsked) {
      const due = await selectOldestDueAt(db)
      const waitMs = due === undefined ? relayPollMs : Math.min(relayPollMs, msUntil(due))
      if (waitMs > 0) return asked.wait(waitMs)
    }
    isAsked = false
    const taken = await take(room, false)
    if (taken === room) isAsked = true
  }

  /** While the route is held back one email at a time probes it, and what runs out of time is still ended. */
  async function lookWhileHeld(until: Instant): Promise<void> {
    if (leases.size > 0) return settled.wait(relayPollMs)
    const waitMs = msUntil(until)
    if (waitMs <= 0) {
      const taken = await take(1, false)
      return taken === 0 ? asked.wait(relayPollMs) : undefined
    }
    if (performance.now() - sweptAt >= expirySweepMs) {
      sweptAt = performance.now()
      await take(maxAhead, true)
    }
    return asked.wait(Math.min(relayPollMs, waitMs))
  }

  function msUntil(at: Instant): number {
    return millisecondsOf(at) - millisecondsOf(clock.now())
  }

  async function work(): Promise<void> {
    while (!isStopping)
      try {
        await look()
      } catch (error) {
        log.error({ err: error }, 'could not take from the outbox')
        isAsked = true
        await asked.wait(afterTroubleMs)
      }
  }

  const working = work()
  return {
    wake() {
      isAsked = true
      asked.notify()
    },
    async stop() {
      isStopping = true
      asked.notify()
      settled.notify()
      await working
      await Promise.all(underWay)
      leases.stop()
    },
  }
}
