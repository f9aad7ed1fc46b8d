import { availableParallelism, loadavg } from 'node:os'

/** Lets others have their turn between the pieces of a long work. */
export interface Throttle {
  /** To be called after each piece. */
  pause(): Promise<void>
}

/** The longest pause, in milliseconds: what one slow piece cost is not paid back for minutes. */
const maxPauseMs = 2000
/** What is left of the share once there is work for all processors. */
const busyShare = 1 / 3

/** Works this part of the time, above 0, up to 1, and rests the other; where the machine is busy, a third of that. */
export function createThrottle(share: number): Throttle {
  let began = performance.now()
  return {
    async pause() {
      const workedMs = performance.now() - began
      const part = share === 1 ? 1 : share * shareForLoad(loadavg()[0] ?? 0, availableParallelism())
      if (part < 1) await Bun.sleep(Math.min(maxPauseMs, workedMs * (1 / part - 1)))
      began = performance.now()
    },
  }
}

/** 1 up to half as many waiting tasks as processors, then less, down to {@link busyShare} for as many. */
export function shareForLoad(load: number, processors: number): number {
  const busy = Math.min(1, Math.max(0, (load / processors - 0.5) * 2))
  return 1 - busy * (1 - busyShare)
}
