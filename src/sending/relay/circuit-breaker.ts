import { minuteMs } from '../../base/clock.ts'

const failuresToOpen = 5
const firstWaitMs = 1000
const maxWaitMs = 5 * minuteMs

/**
 * Opens after five failures in a row. While open it lets one probe through after 1 s, 2 s, 4 s … 5 min; the first that
 * succeeds closes it. Times are milliseconds since 1970.
 */
export class CircuitBreaker {
  private failuresInRow = 0
  private waitMs = 0
  private openUntilMs: number | undefined
  private isProbing = false

  /** May a submission be made now? While open: one probe at a time, and none before {@link CircuitBreaker.openUntil}. */
  allowsAttempt(nowMs: number): boolean {
    return this.openUntilMs === undefined || (!this.isProbing && nowMs >= this.openUntilMs)
  }

  /** A submission begins; it ends with one of the three below. */
  beginAttempt(): void {
    this.isProbing = this.openUntilMs !== undefined
  }

  /** The submission succeeded. True when that closed the breaker. */
  recordSuccess(): boolean {
    const wasOpen = this.openUntilMs !== undefined
    this.failuresInRow = 0
    this.waitMs = 0
    this.openUntilMs = undefined
    this.isProbing = false
    return wasOpen
  }

  /** The submission failed. True when that opened the breaker: the time to alarm. */
  recordFailure(nowMs: number): boolean {
    this.failuresInRow++
    const wasOpen = this.openUntilMs !== undefined
    // The failures of submissions that were under way when the breaker opened say nothing new.
    if (this.failuresInRow < failuresToOpen || (wasOpen && !this.isProbing)) return false
    this.isProbing = false
    this.waitMs = Math.min(Math.max(this.waitMs * 2, firstWaitMs), maxWaitMs)
    this.openUntilMs = nowMs + this.waitMs
    return !wasOpen
  }

  /** The submission's result said nothing about what this breaker guards. */
  recordNoResult(): void {
    this.isProbing = false
  }

  /** When the next probe may be made; undefined: the breaker is closed. */
  openUntil(): number | undefined {
    return this.openUntilMs
  }
}
