import { availableParallelism, loadavg } from 'node:os'

/** Leaves time for other work between the pieces of a long one. */
export interface Throttle {
  /** To be called after each piece. */
  pause(): Promise<void>
}

/** The longest pause, in milliseconds, also after one very slow piece. */
const maxPauseMs = 2000
/** The part of the share that is left once there is work for all processors. */
const busyShare = 1 / 3

/** A throttle for work that takes this share of the time, above 0, up to 1; on a busy machine a third of it. */
export function createThrottle(share: number): Throttle {
  let start = performance.now()
  return {
    async pause() {
      const workedMs = performance.now() - start
      const part = share === 1 ? 1 : share * shareForLoad(loadavg()[0] ?? 0, availableParallelism())
      if (part < 1) await Bun.sleep(Math.min(maxPauseMs, workedMs * (1 / part - 1)))
      start = performance.now()
    },
  }
}

/** 1 while the load is at most half the number of processors, then falling to {@link busyShare} at a load of that number. */
export function shareForLoad(load: number, processors: number): number {
  const busy = Math.min(1, Math.max(0, (load / processors - 0.5) * 2))
  return 1 - busy * (1 - busyShare)
}
