import { type Clock, dayMs, minuteMs, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { claimLease, deleteLease } from '../../base/database/leases-table.ts'
import { toJson } from '../../base/database/schema.ts'
import { type Id, newId, newSortableToken } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import { CommandError } from '../../base/operator-error.ts'
import { refuse } from '../../base/refusal.ts'
import { deleteOldTasks, insertTask, type TaskRow, updateTaskFinished, updateTaskProgress } from './table.ts'

/** The kinds of long work that an operator starts in the dashboard. */
export const taskKinds = ['doctor', 'retention_plan', 'retention_run', 'backup_verify'] as const

export type TaskKind = (typeof taskKinds)[number]

/** What a task gets while it works. */
export interface TaskControl {
  /** Shows how far it has come; cheap, so that it may be called for every item. `of`: the total, where it is known. */
  report(what: string, count: number, of?: number): void
  /** Fires when the process stops. */
  readonly signal: AbortSignal
}

export interface NewTask {
  readonly kind: TaskKind
  /** What it works on, such as the id of a backup; may be empty. */
  readonly subject: string
  /** The email of the person who starts it. */
  readonly actor: string
  /** Does the work; gives its result, as JSON. A CommandError fails it with its message. */
  run(control: TaskControl): Promise<object>
}

/** Runs long work in the background, one at a time on all processes of this database. */
export interface OperatorTasks {
  /** Starts a task, and does not wait for it. @throws Refusal `task_running` while another one runs */
  start(task: NewTask): Promise<Id<'tsk'>>
  /** Stops the task of this process, and waits until that is recorded. */
  stop(): Promise<void>
}

export interface TaskDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
}

const leaseName = 'operator-task'
/** How long a task counts as running after the last sign of life of its process. */
const aliveMs = minuteMs
const progressIntervalMs = 1000
const taskHistoryMs = 90 * dayMs
const maxResultBytes = 1024 * 1024

/** Opens what runs the tasks of this process. Their state is in the database, where every process finds it. */
export function openOperatorTasks(deps: TaskDeps): OperatorTasks {
  const { db, clock } = deps
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  return {
    async start(task) {
      const holder = newSortableToken()
      const now = clock.now()
      const aliveUntil = plusMs(now, aliveMs)
      if (stopping.signal.aborted) throw refuse('unavailable', { message: 'This process is stopping; try again.' })
      if (!(await claimLease(db, { name: leaseName, holder, now, until: aliveUntil })))
        throw refuse('task_running', {
          message: 'Another task of an operator is running; only one runs at a time. Wait until it is finished.',
          retryAfterSeconds: 10,
        })
      const { kind, subject, actor } = task
      const row: TaskRow = {
        ...{ id: newId('tsk'), kind, subject: subject.slice(0, 320), actor: actor.slice(0, 120), started_at: now },
        ...{ alive_until: aliveUntil, progress: null, finished_at: null, result: null, error: null },
      }
      await insertTask(db, row)
      await deleteOldTasks(db, plusMs(now, -taskHistoryMs))
      const work = runTask(deps, row.id, holder, task, stopping.signal).finally(() => running.delete(work))
      running.add(work)
      return row.id
    },
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

async function runTask(
  { db, clock, log }: TaskDeps,
  id: Id<'tsk'>,
  holder: string,
  task: NewTask,
  signal: AbortSignal,
): Promise<void> {
  let progress: TaskRow['progress'] = null
  let isFinished = false
  const beat = async () => {
    while (!isFinished) {
      await Bun.sleep(progressIntervalMs)
      if (isFinished) return
      const now = clock.now()
      const until = plusMs(now, aliveMs)
      try {
        await claimLease(db, { name: leaseName, holder, now, until })
        await updateTaskProgress(db, id, progress, until)
      } catch (error) {
        log.warn({ task_id: id, err: error }, 'could not record the progress of a task; it will be tried again')
      }
    }
  }
  const beating = beat()
  const outcome = await finish(task, signal, (what, count, of) => {
    progress = toJson({ what, count, of: of ?? null })
  })
  if (outcome.thrown !== undefined) log.error({ task_id: id, kind: task.kind, err: outcome.thrown }, 'task failed')
  isFinished = true
  await beating
  try {
    const { result, error } = outcome
    await updateTaskFinished(db, id, { finished_at: clock.now(), progress, result, error })
    await deleteLease(db, leaseName, holder)
  } catch (error) {
    log.error({ task_id: id, err: error }, 'could not record the end of a task; it will be shown as lost')
  }
}

interface TaskOutcome extends Pick<TaskRow, 'result' | 'error'> {
  /** An error that nobody expected. */
  readonly thrown?: unknown
}

async function finish(task: NewTask, signal: AbortSignal, report: TaskControl['report']): Promise<TaskOutcome> {
  try {
    const result = toJson(await untilAborted(task.run({ report, signal }), signal))
    if (result.length <= maxResultBytes) return { result, error: null }
    return { result: null, error: 'It was done, but its result is too long to be kept: run the command instead.' }
  } catch (error) {
    if (signal.aborted) return { result: null, error: 'The process that ran it was stopped. Start it again.' }
    if (error instanceof CommandError) return { result: null, error: error.message }
    return { result: null, error: `It failed: ${(error as Error).message}`, thrown: error }
  }
}

/** So that the process stops soon, also while the work does not look at the signal. */
function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      const end = () => reject(new Error('stopped'))
      if (signal.aborted) end()
      else signal.addEventListener('abort', end, { once: true })
    }),
  ])
}
