import { LRUCache } from 'lru-cache'
import type { DnsAnswer } from '../port.ts'

/** An answer that may be cached: a failure never is. */
export type CacheableAnswer<Data> = Exclude<DnsAnswer<Data>, { kind: 'failed' }>

/** Bounds of a cache. */
export interface CacheLimits {
  readonly maxEntries: number
  /** Summed sizes of the responses as they came over the wire. */
  readonly maxBytes: number
}

/** Answers by question, each for its own TTL. */
export interface AnswerCache {
  /** The answer with what is left of its TTL; undefined when there is none or it has expired. */
  get(key: string): CacheableAnswer<unknown> | undefined
  /** Caches an answer for `ttlSeconds`. One with a TTL of 0, or larger than the whole cache, is not cached. */
  set(key: string, answer: CacheableAnswer<unknown>, ttlSeconds: number, bytes: number): void
}

/** A cache in memory that evicts the least recently used answers. `nowMs`: a monotonic clock, in milliseconds. */
export function createAnswerCache({ maxEntries, maxBytes }: CacheLimits, nowMs: () => number): AnswerCache {
  const cache = new LRUCache<string, CacheableAnswer<unknown>>({
    max: maxEntries,
    maxSize: maxBytes,
    perf: { now: nowMs },
    // The default reads the clock once a timer tick.
    ttlResolution: 0,
  })
  return {
    get(key) {
      const remainingMs = cache.getRemainingTTL(key)
      const answer = remainingMs > 0 ? cache.get(key) : undefined
      return answer?.kind === 'found' ? { ...answer, ttlSeconds: Math.ceil(remainingMs / 1000) } : answer
    },
    set(key, answer, ttlSeconds, bytes) {
      if (ttlSeconds <= 0) cache.delete(key)
      else cache.set(key, answer, { ttl: ttlSeconds * 1000, size: bytes })
    },
  }
}
