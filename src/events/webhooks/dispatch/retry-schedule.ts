import { hourMs, minuteMs } from '../../../base/clock.ts'

/** The wait after each failed attempt, in milliseconds: the first is followed by 5 s, the ninth by a day, the tenth by none. */
const waitsMs = [
  5000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
]
const spread = 0.1
const maxRetryAfterMs = hourMs

/**
 * The wait before the next attempt, in milliseconds, ± 10 %; null: there is none.
 * @param attempts how many were made, all in vain
 * @param retryAfterMs what the receiver asked for: at least so long, up to an hour
 * @param random a number from 0 to 1
 */
export function webhookRetryWaitMs(attempts: number, retryAfterMs: number | null, random: number): number | null {
  const wait = waitsMs[attempts - 1]
  if (wait === undefined) return null
  return Math.max(wait * (1 - spread + 2 * spread * random), Math.min(retryAfterMs ?? 0, maxRetryAfterMs))
}

/** A Retry-After header (RFC 9110 §10.2.3), seconds or a date, in milliseconds from now on; null: it is neither. */
export function readRetryAfter(value: string | null, nowMs: number): number | null {
  if (value === null) return null
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const atMs = Date.parse(value)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
