import type { DnsAnswer } from './port.ts'

/** An answer that may be kept. */
export type CacheableAnswer<Data> = Exclude<DnsAnswer<Data>, { kind: 'failed' }>

interface CacheEntry {
  readonly answer: CacheableAnswer<unknown>
  readonly untilMs: number
  readonly bytes: number
}

/** How much a cache holds. */
export interface CacheLimits {
  readonly maxEntries: number
  /** As the answers came over the wire. */
  readonly maxBytes: number
}

/** Answers by question, for as long as each may be believed. */
export interface AnswerCache {
  get(key: string): CacheableAnswer<unknown> | undefined
  set(key: string, answer: CacheableAnswer<unknown>, seconds: number, bytes: number): void
}

/** A cache in memory; what was asked for longest ago gives way. `nowMs`: a clock that never goes back. */
export function createAnswerCache(limits: CacheLimits, nowMs: () => number): AnswerCache {
  const kept = new Map<string, CacheEntry>()
  let bytes = 0

  function drop(key: string, cacheEntry: CacheEntry): void {
    kept.delete(key)
    bytes -= cacheEntry.bytes
  }

  return {
    get(key) {
      const found = kept.get(key)
      if (!found) return undefined
      const leftMs = found.untilMs - nowMs()
      if (leftMs <= 0) {
        drop(key, found)
        return undefined
      }
      kept.delete(key)
      kept.set(key, found)
      return found.answer.kind === 'found' ? { ...found.answer, ttlSeconds: Math.ceil(leftMs / 1000) } : found.answer
    },
    set(key, answer, seconds, size) {
      const before = kept.get(key)
      if (before) drop(key, before)
      if (seconds <= 0 || size > limits.maxBytes) return
      kept.set(key, { answer, untilMs: nowMs() + seconds * 1000, bytes: size })
      bytes += size
      for (const [oldest, each] of kept) {
        if (kept.size <= limits.maxEntries && bytes <= limits.maxBytes) break
        drop(oldest, each)
      }
    },
  }
}
