import { type Clock, type Instant, millisecondsOf, systemClock } from '../base/clock.ts'
import { type BackgroundJob, startJob } from '../base/concurrency/background-job.ts'
import { newWakeup } from '../base/concurrency/wakeup.ts'
import { type Db, isDuplicate } from '../base/database/database.ts'
import type { Log } from '../base/observability/log.ts'
import { onEventsAppended } from './append-events.ts'
import { oldestUnsequenced, sequenceLag, unsequencedEvents } from './sequence-metrics.ts'
import { selectLastSequence, selectUnsequenced, type UnsequencedEvent, updateSequences } from './table.ts'

/** How often a process looks for events that others wrote, in milliseconds. */
export const sequencerPollMs = 200
/** Events that this process has just written are looked for after so long: by then most transactions are committed. */
const commitMs = 25
/** Between two rounds while this process writes events, so that those of many transactions share one. */
const spacingMs = 120
const maxAtOnce = 1000

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
  let isAppended = false
  let lastRoundMs = Number.NEGATIVE_INFINITY
  const unlisten = onEventsAppended(() => {
    isAppended = true
    wakeup.notify()
  })
  const job = startJob({ name: 'event-sequence', intervalMs: 0, log }, async signal => {
    await wakeup.wait(sequencerPollMs)
    if (signal.aborted) return 'done'
    if (isAppended) await Bun.sleep(Math.max(commitMs, lastRoundMs + spacingMs - performance.now()))
    isAppended = false
    lastRoundMs = performance.now()
    const count = await numberEvents(db)
    if (count === 0) return 'done'
    onNumbered()
    if (count === maxAtOnce) wakeup.notify()
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

/**
 * Numbers the oldest committed events that have no sequence, at most a thousand, and gives how many those were.
 *
 * Several processes may do this at once. Each numbers the events it sees from the last number on, in the order in which they
 * were written, by one statement that changes no event that is numbered. Where two saw different events, the one that comes
 * second reaches, before anything else, a number that is given: the unique index refuses its whole statement. So numbers have
 * no gaps, and nothing gets a number up to one that readers have seen.
 */
export async function numberEvents(db: Db, clock: Clock = systemClock): Promise<number> {
  // Before the events: whoever numbers some in between makes the numbers of this round collide.
  const last = await selectLastSequence(db)
  const events = await selectUnsequenced(db, maxAtOnce)
  measure(events, clock.now())
  if (events.length === 0) return 0
  try {
    await updateSequences(
      db,
      events.map(event => Number(event.position)),
      last,
    )
  } catch (error) {
    if (isDuplicate(error, 'events_sequence')) return 0
    throw error
  }
  const now = clock.now()
  for (const event of events) sequenceLag.observe(ageSeconds(event, now))
  return events.length
}

function measure(events: readonly UnsequencedEvent[], now: Instant): void {
  const [oldest] = events
  unsequencedEvents.set(events.length)
  oldestUnsequenced.set(oldest ? ageSeconds(oldest, now) : 0)
}

function ageSeconds({ created_at }: UnsequencedEvent, now: Instant): number {
  return Math.max(0, millisecondsOf(now) - millisecondsOf(created_at)) / 1000
}
