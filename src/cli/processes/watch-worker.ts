import { addSilence } from './silence.ts'
import { readThreadState } from './thread-state.ts'
import type { WorkerProcess } from './worker-process.ts'

/** When a worker counts as hung, in milliseconds. */
export interface WatchTimes {
  /** How long one look takes at most, and the pause after one that it answered. */
  readonly lookMs: number
  /** It is hung after so much silence. */
  readonly hungMs: number
}

/** What was seen of a worker that hangs, for the log. */
export interface HungWorker {
  readonly silent_ms: number
  /** Of its main thread: one that runs is in an endless loop, one that sleeps waits for something. */
  readonly state: string
  /** The processor time that its main thread took in that silence. */
  readonly ran_ms: number
}

/** Resolves once the event loop of a worker does not run; null: the worker has ended. */
export async function watchWorker(worker: WorkerProcess, { lookMs, hungMs }: WatchTimes): Promise<HungWorker | null> {
  let silentMs = 0
  let ranBeforeMs = 0
  for (;;) {
    const heardBefore = worker.heardCount()
    const before = readThreadState(worker.pid)
    const startedAt = performance.now()
    // A reply to an earlier question is a sign of life too: it may be late each time.
    const isHeard = (await worker.ping(lookMs)) || worker.heardCount() > heardBefore
    if (worker.hasEnded()) return null
    const elapsedMs = performance.now() - startedAt
    const after = readThreadState(worker.pid)
    if (isHeard) ranBeforeMs = after.ranMs
    silentMs = addSilence(silentMs, { isHeard, elapsedMs, delayedMs: after.delayedMs - before.delayedMs }, lookMs)
    if (silentMs >= hungMs)
      return { silent_ms: Math.round(silentMs), state: after.state, ran_ms: Math.round(after.ranMs - ranBeforeMs) }
    if (isHeard) await Promise.race([worker.ended, Bun.sleep(lookMs)])
  }
}
