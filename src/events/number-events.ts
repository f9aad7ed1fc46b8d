import { type Clock, type Instant, millisecondsOf, systemClock } from '../base/clock.ts'
import { type Db, isDuplicate } from '../base/database/database.ts'
import {
  insertNumbers,
  isUnlockedGap,
  type NumberingStart,
  raiseWatermark,
  selectNumberingStart,
  selectUnseenEvents,
  type UnseenEvent,
} from './numbering-table.ts'
import { addPositions, type PositionGap, type SeenPositions, watermarkOf } from './position-gaps.ts'
import { oldestUnsequenced, sequenceLag, unsequencedEvents } from './sequence-metrics.ts'

/** Events that one statement numbers, at most. A round that numbers so many may leave others. */
export const maxNumberedAtOnce = 1000
/** A round goes through so many pages of as many events, and the next one goes on. */
const maxPages = 50

/**
 * For so long a gap is looked at for events that are committed late, before it is looked at for transactions: between the
 * moment at which an event gets its position and that at which its row is there, and locked, a statement of a request can
 * take its whole time, which is 15 s.
 */
export const gapGraceMs = 20_000
/** Between that nothing is locked in a gap and the last look at it: what had just been committed can be seen by then. */
const committedMs = 1000
/** Of a pause between two rounds no more than this counts: in a longer one this process or the database may have stood still. */
const maxPauseMs = 1000
/** Gaps that a round looks at for transactions. */
const maxGapsChecked = 16
/** The watermark is written when it has come so far, or so long after it was written. */
const watermarkStep = 1000
const watermarkMs = 60_000

/** After so many rounds in which nobody else numbered events, a process takes it that nobody does. */
const roundsAlone = 10

/** What a process knows from its earlier rounds, so that each looks only at what is new. A new one begins at the watermark. */
export interface NumberingMemory {
  seen: { readonly positions: SeenPositions; readonly newest: NewestNumbered } | undefined
  /** The time that rounds have covered, in milliseconds. */
  observedMs: number
  roundAtMs: number | undefined
  watermarkAtMs: number
  /** Rounds in a row in which nobody else had numbered what this process saw. */
  roundsAlone: number
}

/** The event with the highest sequence that a memory rests on. */
interface NewestNumbered {
  readonly sequence: number
  readonly writtenAt: Instant
}

export function newNumberingMemory(): NumberingMemory {
  return { seen: undefined, observedMs: 0, roundAtMs: undefined, watermarkAtMs: 0, roundsAlone: 0 }
}

export interface NumberingOptions {
  /** Absent: a new one. */
  readonly memory?: NumberingMemory
  readonly clock?: Clock
  /** The monotonic time, in milliseconds. */
  readonly monotonicMs?: () => number
}

/**
 * Numbers the oldest committed events that have no sequence, and gives how many those were; from {@link maxNumberedAtOnce} on
 * there may be others.
 *
 * Several processes may do this at once. Each numbers the events it sees from the last number on, in the order in which they
 * were written, by one statement that only inserts. Where two saw different events, the one that comes second reaches a number
 * that is given, or an event that has one: the primary key or the unique index refuses its whole statement. So numbers have no
 * gaps, an event gets one, and nothing gets a number up to one that readers have seen.
 *
 * Events are found by their positions: those after the last that was seen, and those in the gaps before it, where transactions
 * may have been open. Each round looks at all of them, so that of two transactions the one that began after the other was
 * committed never comes first. A gap is given up when it is old and no transaction has a row in it, so when its transaction was
 * rolled back; as long as one is open, that may take days.
 */
export async function numberEvents(
  db: Db,
  { memory = newNumberingMemory(), clock = systemClock, monotonicMs = () => performance.now() }: NumberingOptions = {},
): Promise<number> {
  // One connection for the round: it ends with the server, so that all that the round relies on was said by one server.
  return await db.connection().execute(async connection => {
    // Before the events: whoever numbers some in between makes the numbers of this round collide.
    const start = await selectNumberingStart(connection, memory.seen?.newest.sequence ?? 0)
    observe(memory, monotonicMs())
    const positions = await checkGaps(connection, positionsOf(memory, start), memory.observedMs)
    return await numberUnseen(connection, { memory, clock, start, positions })
  })
}

function observe(memory: NumberingMemory, nowMs: number): void {
  memory.observedMs += Math.min(maxPauseMs, nowMs - (memory.roundAtMs ?? nowMs))
  memory.roundAtMs = nowMs
}

/**
 * What is remembered holds only while the database still has all that was read of it. A server that lost its last transactions,
 * as one that takes over for another may, has lost the newest event, or gives its number to another one.
 */
function positionsOf(memory: NumberingMemory, { watermark, writtenAt }: NumberingStart): SeenPositions {
  if (memory.seen && writtenAt === memory.seen.newest.writtenAt) return memory.seen.positions
  memory.seen = undefined
  memory.roundsAlone = 0
  return { through: watermark, gaps: [] }
}

/** Looks which of the old gaps have no transaction. One that has is looked at again after the same time. */
async function checkGaps(db: Db, positions: SeenPositions, nowMs: number): Promise<SeenPositions> {
  const old = positions.gaps.filter(gap => !gap.isUnlocked && nowMs - gap.sinceMs >= gapGraceMs)
  if (old.length === 0) return positions
  const checked = new Map<PositionGap, PositionGap>()
  for (const gap of old.slice(0, maxGapsChecked))
    checked.set(gap, { ...gap, sinceMs: nowMs, isUnlocked: await isUnlockedGap(db, gap) })
  return { ...positions, gaps: positions.gaps.map(gap => checked.get(gap) ?? gap) }
}

interface NumberingRound {
  readonly memory: NumberingMemory
  readonly clock: Clock
  readonly start: NumberingStart
  readonly positions: SeenPositions
}

/** Goes through what was not seen, a page at a time: those who begin at a watermark that lags find numbered events first. */
async function numberUnseen(db: Db, { memory, clock, start, positions }: NumberingRound): Promise<number> {
  const nowMs = memory.observedMs
  let seen = positions
  let oldest: UnseenEvent | undefined
  let count = 0
  for (let page = 1; ; page++) {
    // If somebody did meanwhile, the unique index refuses the numbers of this round, and the next one looks.
    const isAlone = memory.roundsAlone >= roundsAlone && seen.gaps.length === 0
    const events = await selectUnseenEvents(db, seen, maxNumberedAtOnce, isAlone)
    const unnumbered = events.filter(event => event.sequence === null)
    oldest ??= unnumbered[0]
    measure(count + unnumbered.length, oldest, clock.now())
    const last = start.last + count
    const areNumbered = await numberAll(db, unnumbered, last)
    memory.roundsAlone = areNumbered && unnumbered.length === events.length ? memory.roundsAlone + 1 : 0
    if (!areNumbered) return count
    count += unnumbered.length
    const now = clock.now()
    for (const event of unnumbered) sequenceLag.observe(ageSeconds(event, now))
    seen = addPositions(
      seen,
      events.map(event => event.position),
      nowMs,
    )
    const isAll = events.length < maxNumberedAtOnce
    if (isAll) seen = { ...seen, gaps: seen.gaps.filter(gap => !gap.isUnlocked || nowMs - gap.sinceMs < committedMs) }
    remember(memory, seen, newestOf(events, last))
    await keepWatermark(db, memory, start.watermark)
    if (isAll || count >= maxNumberedAtOnce || page === maxPages) return count
  }
}

/** False: another process was first, with other events. */
async function numberAll(db: Db, events: readonly UnseenEvent[], last: number): Promise<boolean> {
  if (events.length === 0) return true
  try {
    await insertNumbers(
      db,
      events.map(event => event.position),
      last,
    )
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/** The one with the highest sequence, where those that had none were given those after `last`. */
function newestOf(events: readonly UnseenEvent[], last: number): NewestNumbered | undefined {
  let given = last
  let newest: NewestNumbered | undefined
  for (const event of events) {
    const sequence = event.sequence ?? ++given
    if (sequence > (newest?.sequence ?? 0)) newest = { sequence, writtenAt: event.created_at }
  }
  return newest
}

function remember(memory: NumberingMemory, positions: SeenPositions, found: NewestNumbered | undefined): void {
  const known = memory.seen?.newest
  const newest = found && found.sequence > (known?.sequence ?? 0) ? found : known
  memory.seen = newest && { positions, newest }
}

/** It may lag: whoever starts only looks at more. */
async function keepWatermark(db: Db, memory: NumberingMemory, written: number): Promise<void> {
  if (!memory.seen) return
  const watermark = watermarkOf(memory.seen.positions)
  const isDue = memory.observedMs - memory.watermarkAtMs >= watermarkMs
  if (watermark <= written || !(isDue || watermark - written >= watermarkStep)) return
  await raiseWatermark(db, watermark)
  memory.watermarkAtMs = memory.observedMs
}

function measure(count: number, oldest: UnseenEvent | undefined, now: Instant): void {
  unsequencedEvents.set(count)
  oldestUnsequenced.set(oldest ? ageSeconds(oldest, now) : 0)
}

function ageSeconds({ created_at }: UnseenEvent, now: Instant): number {
  return Math.max(0, millisecondsOf(now) - millisecondsOf(created_at)) / 1000
}
