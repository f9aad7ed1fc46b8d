import { type Clock, plusMs } from '../../base/clock.ts'
import { turns } from '../../base/concurrency/semaphore.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { newSortableToken } from '../../base/ids.ts'
import { ZoneTrouble } from './port.ts'
import { leaveZone, takeZone } from './table.ts'

/**
 * Lets one at a time change a zone: reads and writes of `work` belong together. `signal` fires when the turn ends, and
 * what comes after it must change nothing.
 * @throws ZoneTrouble when the turn does not come in time.
 */
export type ZoneTurns = <Result>(zone: string, work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>

export interface TurnTimes {
  /** How long a turn lasts at most. */
  readonly turnMs: number
  readonly longestWaitMs: number
}

const usualTimes: TurnTimes = { turnMs: 15_000, longestWaitMs: 25_000 }
/** Between the end of the work and the next one's turn: for a write that is on its way, and for clocks that differ. */
const marginMs = 5000
const pollMs = 40

/**
 * Turns that all processes on the database take, by leases: whoever dies in their turn holds up the others until it ends.
 * Within a process they come in order.
 */
export function databaseTurns(db: Db, clock: Clock, { turnMs, longestWaitMs } = usualTimes): ZoneTurns {
  const here = new Map<string, ReturnType<typeof turns>>()

  async function take(zone: string, holder: string, signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await Bun.sleep(pollMs * (0.5 + Math.random()))) {
      const now = clock.now()
      const until = plusMs(now, turnMs + marginMs)
      if (await inTransaction(db, tx => takeZone(tx, { zone, holder, now, until }))) return
    }
    throw busy()
  }

  return async (zone, work) => {
    const turn = here.get(zone) ?? turns(1)
    here.set(zone, turn)
    const signal = AbortSignal.timeout(longestWaitMs)
    const release = await turn(signal)
    if (!release) throw busy()
    const holder = newSortableToken()
    try {
      await take(zone, holder, signal)
      return await work(AbortSignal.timeout(turnMs))
    } finally {
      // The work is done, whatever becomes of this: the lease runs out by itself.
      await leaveZone(db, zone, holder).catch(() => undefined)
      release()
    }
  }
}

function busy(): ZoneTrouble {
  return new ZoneTrouble('The zone is being changed by others; try again.', 5)
}
