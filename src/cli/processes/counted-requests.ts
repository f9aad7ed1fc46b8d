import type { WindowCounts } from '../../servers/limits/rate-limiter.ts'

/** What all workers have counted in the current minute, for one that starts meanwhile. */
export interface CountedRequestsSum {
  add(counted: WindowCounts): void
  /** null: nothing. */
  sum(): WindowCounts | null
}

export function newCountedRequestsSum(): CountedRequestsSum {
  let current = 0
  let byKey = new Map<string, number>()
  return {
    add({ window, counts }) {
      if (window < current) return
      if (window > current) byKey = new Map()
      current = window
      for (const [key, count] of Object.entries(counts)) byKey.set(key, (byKey.get(key) ?? 0) + count)
    },
    sum: () => (byKey.size === 0 ? null : { window: current, counts: Object.fromEntries(byKey) }),
  }
}
