/** Lets through what comes, one after the other. */
export type Throttle = (signal: AbortSignal) => Promise<void>

/**
 * At most `perSecond` a second, evenly spaced; those that come faster wait their turn, in order, or until their signal
 * fires. null: no limit.
 */
export function createThrottle(perSecond: number | null): Throttle {
  if (perSecond === null) return () => Promise.resolve()
  const apartMs = 1000 / perSecond
  let next = 0
  return async signal => {
    const now = performance.now()
    const at = Math.max(now, next)
    next = at + apartMs
    if (at > now && !signal.aborted) await waited(at - now, signal)
  }
}

function waited(ms: number, signal: AbortSignal): Promise<void> {
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
