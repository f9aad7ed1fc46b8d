import type { Log } from '../base/observability/log.ts'
import type { AppContext } from './app-context.ts'

/** How a process stops; see AppContext. */
export interface Shutdown extends Pick<AppContext, 'onDrain' | 'onStop'> {
  run(): Promise<void>
}

/**
 * A shutdown: the work in progress ends, then each step undoes one step of the start, in the opposite order. What fails, such
 * as a step that needs a database that is away, does not keep the rest from running.
 */
export function newShutdown(log: Log): Shutdown {
  const drains: (() => Promise<unknown>)[] = []
  const steps: (() => unknown)[] = []

  async function runStep(step: () => unknown): Promise<void> {
    try {
      await step()
    } catch (error) {
      log.error({ err: error }, 'a step of the shutdown failed; the other steps go on')
    }
  }

  return {
    onDrain: drain => void drains.push(drain),
    onStop: step => void steps.push(step),
    run: async () => {
      await Promise.all(drains.splice(0).map(runStep))
      for (let step = steps.pop(); step; step = steps.pop()) await runStep(step)
    },
  }
}
