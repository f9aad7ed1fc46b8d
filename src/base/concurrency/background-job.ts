import { failureLog } from '../observability/failure-log.ts'
import type { Log } from '../observability/log.ts'

/** Work that runs in the background for as long as the process does. */
export interface BackgroundJob {
  /**
   * Starts no further round; resolves when none is running, at the latest after 3 s. A round that runs on then ends with the
   * process, like one whose process dies: what it has not committed is done by a later round.
   */
  stop(): Promise<void>
}

/** One round of a job. `more`: there is work left, so the next round follows at once. `signal` fires when the job stops. */
export type JobRound = (signal: AbortSignal) => Promise<'more' | 'done'>

export interface BackgroundJobOptions {
  /** As src/app/jobs lists it; `job` in log lines. */
  readonly name: string
  /** The pause after a round that left nothing to do, or that failed, in milliseconds. */
  readonly intervalMs: number
  readonly log: Log
}

const stopGraceMs = 3000

/**
 * Runs rounds one after the other until it is stopped. A round that throws is tried again after the interval; while rounds
 * go on failing one line a minute is logged.
 */
export function startJob({ name, intervalMs, log }: BackgroundJobOptions, round: JobRound): BackgroundJob {
  const stopping = new AbortController()
  const { signal } = stopping
  const failures = failureLog(
    log,
    { job: name },
    { failed: 'background job failed; it will be tried again', recovered: 'background job works again' },
  )

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const left = await runRound()
      if (left === 'done') await pause(intervalMs, signal)
    }
  }

  async function runRound(): Promise<'more' | 'done'> {
    try {
      const left = await round(signal)
      failures.succeeded()
      return left
    } catch (error) {
      // What it works with is being closed.
      if (signal.aborted) return 'done'
      failures.failed(error, { retry_in_ms: intervalMs })
      return 'done'
    }
  }

  const running = run()
  return {
    async stop() {
      stopping.abort()
      await Promise.race([running, Bun.sleep(stopGraceMs)])
    },
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      // Otherwise the signal would keep something of every pause for as long as the job runs.
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
