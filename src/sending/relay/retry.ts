import { hourMs, type Instant, plusMs } from '../../base/clock.ts'

/** When attempts are repeated. */
export interface RetryPolicy {
  /** The wait before the second attempt, in milliseconds. */
  readonly firstMs: number
  /** A number from 0 to 1, such as Math.random. */
  readonly random: () => number
}

const maxWaitMs = 4 * hourMs

/** Wait after `attempts` (1 or more) failed ones, in milliseconds: doubles, at most 4 h, ± 20 %. RFC 5321 §4.5.4.1. */
export function retryWaitMs(attempts: number, { firstMs, random }: RetryPolicy): number {
  const wait = Math.min(firstMs * 2 ** (attempts - 1), maxWaitMs)
  return Math.min(wait * (0.8 + 0.4 * random()), maxWaitMs)
}

/** When the next attempt is due: at the latest when the email expires, and is failed. */
export function nextAttemptAt(attempts: number, now: Instant, expiresAt: Instant, policy: RetryPolicy): Instant {
  const at = plusMs(now, retryWaitMs(attempts, policy))
  return at < expiresAt ? at : expiresAt
}
