import { type Clock, plusMs } from '../../../base/clock.ts'
import { newSemaphore } from '../../../base/concurrency/semaphore.ts'
import { type Db, inTransaction } from '../../../base/database/database.ts'
import { newSortableToken } from '../../../base/ids.ts'
import { DnsZoneError } from '../port.ts'
import { deleteZoneLease, leaseZone } from './table.ts'

/**
 * Runs `work` while no one else changes the zone, so that what it reads holds until it writes. `signal` fires when the
 * lock expires: after that `work` must change nothing.
 * @throws DnsZoneError when the lock is not free in time
 */
export type ZoneLock = <Result>(zone: string, work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>

export interface ZoneLockTimes {
  /** How long the lock is held at most. */
  readonly leaseMs: number
  /** How long to wait for it. */
  readonly maxWaitMs: number
}

const defaultTimes: ZoneLockTimes = { leaseMs: 15_000, maxWaitMs: 25_000 }
/** From the end of `leaseMs` until others may take the lock: for a write in flight, and for clocks that differ. */
const marginMs = 5000
const pollMs = 40

/**
 * A lock for each zone that all processes on the database share: a lease in the table `zone_turns`. The lease of a process
 * that died blocks the others until it expires. Within a process callers get the lock in order.
 */
export function databaseZoneLock(db: Db, clock: Clock, { leaseMs, maxWaitMs } = defaultTimes): ZoneLock {
  const semaphores = new Map<string, ReturnType<typeof newSemaphore>>()

  async function waitForLease(zone: string, holder: string, signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await Bun.sleep(pollMs * (0.5 + Math.random()))) {
      const now = clock.now()
      const until = plusMs(now, leaseMs + marginMs)
      if (await inTransaction(db, tx => leaseZone(tx, { zone, holder, now, until }))) return
    }
    throw busy()
  }

  return async (zone, work) => {
    const acquire = semaphores.get(zone) ?? newSemaphore(1)
    semaphores.set(zone, acquire)
    const signal = AbortSignal.timeout(maxWaitMs)
    const release = await acquire(signal)
    if (!release) throw busy()
    const holder = newSortableToken()
    try {
      await waitForLease(zone, holder, signal)
      return await work(AbortSignal.timeout(leaseMs))
    } finally {
      // The work is done, even if this fails: the lease expires by itself.
      await deleteZoneLease(db, zone, holder).catch(() => undefined)
      release()
    }
  }
}

function busy(): DnsZoneError {
  return new DnsZoneError('The zone is being changed by someone else; try again.', 5)
}
