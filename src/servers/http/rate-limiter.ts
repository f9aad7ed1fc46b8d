/** What a taker has left in this minute. */
export interface RateLimitStatus {
  readonly isAllowed: boolean
  readonly limit: number
  readonly remaining: number
  /** When the window ends: Unix time in seconds. */
  readonly resetsAt: number
}

const windowMs = 60_000

/** Counts by name, in windows of one minute that are the same for all. Nothing is kept past a window. */
export interface RateLimiter {
  /** Counts one. */
  consume(name: string, nowMs: number): RateLimitStatus
}

/** At most `perMinute` for each name. */
export function openRateLimiter(perMinute: number): RateLimiter {
  let window = 0
  let counts = new Map<string, number>()
  return {
    consume(name, nowMs) {
      const current = Math.floor(nowMs / windowMs)
      if (current !== window) {
        window = current
        counts = new Map()
      }
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      return {
        isAllowed: count <= perMinute,
        limit: perMinute,
        remaining: Math.max(0, perMinute - count),
        resetsAt: ((current + 1) * windowMs) / 1000,
      }
    },
  }
}

/** Seconds until the window ends, at least 1. */
export function secondsUntilReset(allowance: RateLimitStatus, nowMs: number): number {
  return Math.max(1, Math.ceil(allowance.resetsAt - nowMs / 1000))
}
