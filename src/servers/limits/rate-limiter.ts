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

/** Requests that a process has counted in one window, by key. */
export interface WindowCounts {
  /** Minutes since 1970. */
  readonly window: number
  readonly counts: Readonly<Record<string, number>>
}

/** How the limiters of several processes, to which the connections of one client may come, know what the others count. */
export interface CountExchange {
  send(counts: WindowCounts): void
  onReceive(receive: (counts: WindowCounts) => void): void
}

/** The others know what was counted after this time, in milliseconds: so much later may a client past its limit be refused. */
const sendAfterMs = 20
/** The part of a limit that a process counts by itself before it tells the others: most clients never come near their limit. */
const unsentPart = 0.1

/** At most `perMinute` requests for each key, over all processes of `exchange`. */
export function openRateLimiter(perMinute: number, exchange?: CountExchange): RateLimiter {
  let currentWindow = 0
  let own = new Map<string, number>()
  let sent = new Map<string, number>()
  let ofOthers = new Map<string, number>()
  let unsent = new Set<string>()
  let isWaiting = false
  exchange?.onReceive(receive)

  function enter(window: number): void {
    if (window === currentWindow) return
    currentWindow = window
    own = new Map()
    sent = new Map()
    ofOthers = new Map()
    unsent = new Set()
  }

  function receive({ window, counts }: WindowCounts): void {
    if (window < currentWindow) return
    enter(window)
    for (const [key, count] of Object.entries(counts)) {
      ofOthers.set(key, (ofOthers.get(key) ?? 0) + count)
      if (own.has(key)) sendSoon(key)
    }
  }

  function sendSoon(key: string): void {
    if (own.get(key) === sent.get(key)) return
    unsent.add(key)
    if (!isWaiting) setTimeout(sendUnsent, sendAfterMs)
    isWaiting = true
  }

  function sendUnsent(): void {
    isWaiting = false
    if (unsent.size === 0) return
    const counts = Object.fromEntries(Array.from(unsent, key => [key, (own.get(key) ?? 0) - (sent.get(key) ?? 0)]))
    for (const key of unsent) sent.set(key, own.get(key) ?? 0)
    unsent.clear()
    exchange?.send({ window: currentWindow, counts })
  }

  return {
    consume(key, nowMs) {
      const window = Math.floor(nowMs / windowMs)
      enter(window)
      const ownCount = (own.get(key) ?? 0) + 1
      const count = ownCount + (ofOthers.get(key) ?? 0)
      const isAllowed = count <= perMinute
      own.set(key, ownCount)
      if (exchange && isAllowed && (ofOthers.has(key) || ownCount > perMinute * unsentPart)) sendSoon(key)
      return {
        isAllowed,
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
