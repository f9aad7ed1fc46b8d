/** Resolves when the caller may go on. */
export type Throttle = (signal: AbortSignal) => Promise<void>

/**
 * Lets at most `perSecond` callers through a second, evenly spaced, in the order in which they came; one whose signal fires
 * goes on at once. null: no limit.
 */
export function createThrottle(perSecond: number | null): Throttle {
  if (perSecond === null) return () => Promise.resolve()
  const spacingMs = 1000 / perSecond
  let next = 0
  return async signal => {
    const now = performance.now()
    const at = Math.max(now, next)
    next = at + spacingMs
    if (at > now && !signal.aborted) await sleepUntilAborted(at - now, signal)
  }
}

function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
