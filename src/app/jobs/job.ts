import type { Clock } from '../../base/clock.ts'
import { type JobRound, startJob } from '../../base/concurrency/background-job.ts'
import type { Db } from '../../base/database/database.ts'
import type { AppContext } from '../app-context.ts'

/** A job of a process, with what it depends on. */
export type Job<Deps> = {
  /** Unique; `job` in the log line of a round that failed. */
  readonly name: string
  /** The pause after a round that left nothing to do, in milliseconds. */
  readonly intervalMs: number
  /** What it does, continuing "This job …". */
  readonly does: string
  /** Does each of several processes that share their ports need it for itself? One for the instance runs in the first alone. */
  readonly isForEachProcess?: true
} & (
  | {
      /** Prepares the rounds that {@link startJobs} runs; null: the configuration does not need the job. */
      readonly open: (deps: Deps) => JobRound | null
    }
  /** The function that starts it, together with the resource that it belongs to. */
  | { readonly startedBy: string }
)

/** Starts those of the jobs that the configuration needs. When the process stops, their rounds in progress are finished. */
export function startJobs<Deps extends AppContext>(toStart: readonly Job<Deps>[], deps: Deps): void {
  const running = toStart.flatMap(job => {
    const isOurs = deps.share.runsJobs || job.isForEachProcess === true
    const round = isOurs && 'open' in job ? job.open(deps) : null
    return round === null ? [] : [startJob({ name: job.name, intervalMs: job.intervalMs, log: deps.log }, round)]
  })
  deps.onDrain(() => Promise.all(running.map(job => job.stop())))
}

/** A round that never leaves anything to do. */
export function once(work: () => Promise<unknown>): JobRound {
  return async () => {
    await work()
    return 'done'
  }
}

const rowsPerCleanup = 1000

/** A job that deletes rows in batches: `deleteRows` deletes at most so many, and gives how many there were. */
export function cleanup(
  deleteRows: (deps: { readonly db: Db; readonly clock: Clock }, most: number) => Promise<number>,
) {
  return (deps: AppContext): JobRound =>
    async () =>
      (await deleteRows(deps, rowsPerCleanup)) === rowsPerCleanup ? 'more' : 'done'
}
