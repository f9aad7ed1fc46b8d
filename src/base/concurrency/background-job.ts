import type { Log } from '../observability/log.ts'

/** Work that goes on in the background for as long as the process runs. */
export interface BackgroundJob {
  /** Begins no further round; resolves when none is under way. */
  stop(): Promise<void>
}

export interface BackgroundJobOptions {
  /** The wait after a round that left nothing to do, in milliseconds. */
  readonly pauseMs: number
  readonly log: Log
  /** The log line for a round that threw; another follows after the pause. */
  readonly failureMessage: string
}

/**
 * Does rounds of work, one after the other: the next at once when a round says that there is `more`, else after a pause.
 * `signal` fires when it is to stop.
 */
export function startJob(
  { pauseMs, log, failureMessage }: BackgroundJobOptions,
  round: (signal: AbortSignal) => Promise<'more' | 'done'>,
): BackgroundJob {
  const stopping = new AbortController()
  const { signal } = stopping

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const left = await round(signal).catch((error: unknown) => {
        log.error({ err: error }, failureMessage)
        return 'done' as const
      })
      if (left === 'done') await pause(pauseMs, signal)
    }
  }

  const running = run()
  return {
    stop() {
      stopping.abort()
      return running
    },
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
