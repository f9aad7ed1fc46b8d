import { type Refusal, refuse } from '../../base/refusal.ts'

/** The state of one key's limit in the current minute. */
export interface RateLimitStatus {
  readonly isAllowed: boolean
  readonly limit: number
  readonly remaining: number
  /** When the window ends: Unix time in seconds. */
  readonly resetsAt: number
}

const windowMs = 60_000

/** Counts by key in fixed windows of one minute, the same for all keys. Nothing is remembered past a window. */
export interface RateLimiter {
  /** Counts one request. */
  consume(key: string, nowMs: number): RateLimitStatus
}

/** At most `perMinute` requests for each key. */
export function openRateLimiter(perMinute: number): RateLimiter {
  let currentWindow = 0
  let counts = new Map<string, number>()
  return {
    consume(key, nowMs) {
      const window = Math.floor(nowMs / windowMs)
      if (window !== currentWindow) {
        currentWindow = window
        counts = new Map()
      }
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return {
        isAllowed: count <= perMinute,
        limit: perMinute,
        remaining: Math.max(0, perMinute - count),
        resetsAt: ((window + 1) * windowMs) / 1000,
      }
    },
  }
}

/** Seconds until the window ends, at least 1. */
export function secondsUntilReset({ resetsAt }: RateLimitStatus, nowMs: number): number {
  return Math.max(1, Math.ceil(resetsAt - nowMs / 1000))
}

/** The refusals of a caller that makes too many requests. */
export const rateRefusals = ['rate_limited'] as const

/** The refusal of a request past its limit. */
export function rateLimited(message: string, status: RateLimitStatus, nowMs: number): Refusal {
  return refuse('rate_limited', { message, retryAfterSeconds: secondsUntilReset(status, nowMs) })
}
