/** What was seen of a worker in the time of one look. */
export interface Look {
  /** Did anything come from it? */
  readonly isHeard: boolean
  /** How long the look took, in milliseconds. */
  readonly elapsedMs: number
  /** How long it waited for a core meanwhile, in milliseconds. */
  readonly delayedMs: number
}

/**
 * For how long a worker has been silent after another look, in milliseconds. A look counts for no longer than it should take
 * (the machine was suspended, or the parent had no core), and without the time in which the worker could not run: on a busy
 * machine a worker that works is late, not hung.
 */
export function addSilence(silentMs: number, { isHeard, elapsedMs, delayedMs }: Look, lookMs: number): number {
  return isHeard ? 0 : silentMs + Math.max(0, Math.min(elapsedMs, lookMs) - delayedMs)
}
