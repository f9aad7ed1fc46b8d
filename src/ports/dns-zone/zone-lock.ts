import { type Clock, plusMs } from '../../base/clock.ts'
import { newSemaphore } from '../../base/concurrency/semaphore.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { newSortableToken } from '../../base/ids.ts'
import { DnsZoneError } from './port.ts'
import { deleteZoneLease, leaseZone } from './table.ts'

/**
 * Lets one at a time change a zone: reads and writes of `work` belong together. `signal` fires when the turn ends, and
 * what comes after it must change nothing.
 * @throws DnsZoneError when the turn does not come in time.
 */
export type ZoneLock = <Result>(zone: string, work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>

export interface ZoneLockTimes {
  /** How long a turn lasts at most. */
  readonly leaseMs: number
  readonly maxWaitMs: number
}

const usualTimes: ZoneLockTimes = { leaseMs: 15_000, maxWaitMs: 25_000 }
/** Between the end of the work and the next one's turn: for a write that is on its way, and for clocks that differ. */
const marginMs = 5000
const pollMs = 40

/**
 * Turns that all processes on the database take, by leases: whoever dies in their turn holds up the others until it ends.
 * Within a process they come in order.
 */
export function databaseZoneLock(db: Db, clock: Clock, { leaseMs, maxWaitMs } = usualTimes): ZoneLock {
  const here = new Map<string, ReturnType<typeof newSemaphore>>()

  async function take(zone: string, holder: string, signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await Bun.sleep(pollMs * (0.5 + Math.random()))) {
      const now = clock.now()
      const until = plusMs(now, leaseMs + marginMs)
      if (await inTransaction(db, tx => leaseZone(tx, { zone, holder, now, until }))) return
    }
    throw busy()
  }

  return async (zone, work) => {
    const turn = here.get(zone) ?? newSemaphore(1)
    here.set(zone, turn)
    const signal = AbortSignal.timeout(maxWaitMs)
    const release = await turn(signal)
    if (!release) throw busy()
    const holder = newSortableToken()
    try {
      await take(zone, holder, signal)
      return await work(AbortSignal.timeout(leaseMs))
    } finally {
      // The work is done, whatever becomes of this: the lease runs out by itself.
      await deleteZoneLease(db, zone, holder).catch(() => undefined)
      release()
    }
  }
}

function busy(): DnsZoneError {
  return new DnsZoneError('The zone is being changed by others; try again.', 5)
}
