import { minuteMs } from '../../base/clock.ts'
/** Holds back what is in trouble, and tries now and then whether it still is. Times are milliseconds since 1970. */
export interface CircuitBreaker {
  /** May a submission go out now? While held back, one probe at a time, and none before {@link CircuitBreaker.openUntil}. */
  allowsAttempt(nowMs: number): boolean
  /** A submission goes out; it ends with one of the three below. */
  beginAttempt(): void
  /** It got through. True when that ended the holding back. */
  recordSuccess(): boolean
  /** It met trouble. True when that began the holding back: the time to alarm. */
  recordFailure(nowMs: number): boolean
  /** It told nothing about this. */
  recordNoResult(): void
  /** When the next probe may go; undefined: nothing is held back. */
  openUntil(): number | undefined
}

const openAfter = 5
const firstWaitMs = 1000
const maxWaitMs = 5 * minuteMs

/** Holds back after five troubles in a row; a probe after 1 s, 2 s, 4 s … 5 min, and the first that gets through ends it. */
export function newCircuitBreaker(): CircuitBreaker {
  let inRow = 0
  let waitMs = 0
  let until: number | undefined
  let isProbing = false
  return {
    allowsAttempt: nowMs => until === undefined || (!isProbing && nowMs >= until),
    beginAttempt() {
      isProbing = until !== undefined
    },
    recordSuccess() {
      const wasHeld = until !== undefined
      inRow = 0
      waitMs = 0
      until = undefined
      isProbing = false
      return wasHeld
    },
    recordFailure(nowMs) {
      inRow++
      const wasHeld = until !== undefined
      // What was under way when the holding back began says nothing new.
      if (inRow < openAfter || (wasHeld && !isProbing)) return false
      isProbing = false
      waitMs = Math.min(Math.max(waitMs * 2, firstWaitMs), maxWaitMs)
      until = nowMs + waitMs
      return !wasHeld
    },
    recordNoResult() {
      isProbing = false
    },
    openUntil: () => until,
  }
}
