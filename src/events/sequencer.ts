import { type BackgroundJob, startJob } from '../base/concurrency/background-job.ts'
import { newWakeup } from '../base/concurrency/wakeup.ts'
import type { Db } from '../base/database/database.ts'
import type { Log } from '../base/observability/log.ts'
import { onEventsAppended } from './append-events.ts'
import { maxNumberedAtOnce, newNumberingMemory, numberEvents } from './number-events.ts'

/** How often a process looks for events that others wrote, in milliseconds. */
export const sequencerPollMs = 200
/** Events that this process has just written are looked for after so long: by then most transactions are committed. */
const commitMs = 25
/** Between two rounds while this process writes events, so that those of many transactions share one. */
const spacingMs = 120
/**
 * The same where others number events too, so that all together make no more rounds than one alone, and after a round of so many
 * events: then each costs less. None waits for half a second.
 */
const longSpacingMs = 240
const manyEvents = 150

export interface SequencerDeps {
  readonly db: Db
  readonly log: Log
  /** Called when this process has numbered events. */
  readonly onNumbered: () => void
}

/**
 * Numbers committed events, so that readers see all of them, each once and in one order. Ids, times and positions do not give
 * that order: what is committed late has smaller ones than what readers may have passed already.
 *
 * Every process does it, and none needs a lock: see {@link numberEvents}. One that is killed, stopped, or cut off from the
 * database in the middle leaves nothing behind that another would have to wait for.
 */
export function startSequencer({ db, log, onNumbered }: SequencerDeps): BackgroundJob {
  const wakeup = newWakeup()
  const memory = newNumberingMemory()
  let isAppended = false
  let nextRoundMs = Number.NEGATIVE_INFINITY
  const unlisten = onEventsAppended(() => {
    // Once for all until the round begins: a notification that is left over would begin another one at once.
    if (!isAppended) wakeup.notify()
    isAppended = true
  })
  const job = startJob({ name: 'event-sequence', intervalMs: 0, log }, async signal => {
    await wakeup.wait(sequencerPollMs)
    if (signal.aborted) return 'done'
    if (isAppended) await Bun.sleep(Math.max(commitMs, nextRoundMs - performance.now()))
    isAppended = false
    const startedMs = performance.now()
    const count = await numberEvents(db, { memory })
    const isShared = memory.roundsAlone === 0
    nextRoundMs = startedMs + (isShared || count >= manyEvents ? longSpacingMs : spacingMs)
    if (count === 0) return 'done'
    onNumbered()
    if (count >= maxNumberedAtOnce) wakeup.notify()
    return 'done'
  })
  return {
    async stop() {
      unlisten()
      const stopped = job.stop()
      wakeup.notify()
      await stopped
    },
  }
}
