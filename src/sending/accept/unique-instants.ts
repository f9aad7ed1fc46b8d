import { type Clock, type Instant, instantAt, microsecondsOf } from '../../base/clock.ts'

/** A clock that is set back by more than this is followed. */
const maxAheadMicroseconds = 60_000_000

/**
 * Gives instants of which no two are the same, at or after the clock's: lists of emails are paged by them. Another process
 * may still give the same.
 */
export class UniqueInstants {
  private last = 0
  private readonly clock: Clock

  constructor(clock: Clock) {
    this.clock = clock
  }

  next(): Instant {
    const now = microsecondsOf(this.clock.now())
    const isAfter = now > this.last
    const isSetBack = now < this.last - maxAheadMicroseconds
    this.last = isAfter || isSetBack ? now : this.last + 1
    return instantAt(this.last)
  }

  /** After a collision with another process: leaps past its instants, by a different step in each process. */
  leap(attempt: number): void {
    this.last += Math.ceil(Math.random() * 20 * 2 ** attempt)
  }
}
