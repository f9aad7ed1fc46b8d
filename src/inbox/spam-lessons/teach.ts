import { type Clock, dayMs, hourMs, microsecondsOf, minuteMs, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Folder } from '../../base/database/schema.ts'
import type { FailureLog } from '../../base/observability/failure-log.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { LessonResult, SpamFilter } from '../../ports/spam-filter/port.ts'
import { lessonsCounter } from './lessons.ts'
import { deleteLesson, type LessonRow, selectDueLessons, selectLessonMessage, updateLessonDue } from './table.ts'

export interface TeachDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly learn: NonNullable<SpamFilter['learn']>
  /** Logs that the filter does not learn, and that it does again. */
  readonly failures: FailureLog
}

const batchSize = 20
/** How long one lesson may take before another process claims it. */
const leaseMs = 10 * minuteMs
const longestWaitMs = hourMs
/** A lesson that could not be taught for so long is given up. */
const giveUpMs = 7 * dayMs

/** A round of the job `spam-lessons`: teaches what is due, until the filter does not answer. */
export async function teachRound(deps: TeachDeps, signal: AbortSignal): Promise<'more' | 'done'> {
  const due = await selectDueLessons(deps.db, deps.clock.now(), batchSize)
  for (const row of due) {
    if (signal.aborted) return 'done'
    const lease = plusMs(deps.clock.now(), leaseMs)
    if (!(await updateLessonDue(deps.db, row, { dueAt: lease, attempts: row.attempts + 1 }))) continue
    const claimed = { ...row, due_at: lease, attempts: row.attempts + 1 }
    // The others would fail as well, and wait for the next round.
    if (!(await teach(claimed, deps, signal))) return 'done'
  }
  return due.length === batchSize ? 'more' : 'done'
}

/** False: the filter does not answer. */
async function teach(row: LessonRow, deps: TeachDeps, signal: AbortSignal): Promise<boolean> {
  const { db, blobs, learn, clock, failures } = deps
  const message = await selectLessonMessage(db, row)
  if (!message || message.scan === 'infected' || contradicts(row.lesson, message.folder)) {
    await conclude(row, 'obsolete', deps)
    return true
  }
  const bytes = blobs.read(row.organization_id, message.blob_id)
  const result: LessonResult = await learn(row.lesson, { size: Number(message.size), bytes }, signal)
  switch (result.kind) {
    case 'learned':
    case 'refused':
      failures.succeeded()
      await conclude(row, result.kind, deps)
      return true
    case 'unavailable': {
      if (signal.aborted) return false
      failures.failed(result.why)
      const waitedMs = (microsecondsOf(clock.now()) - microsecondsOf(row.created_at)) / 1000
      if (waitedMs > giveUpMs) await conclude(row, 'given_up', deps)
      else
        await updateLessonDue(db, row, { dueAt: plusMs(clock.now(), waitAfter(row.attempts)), attempts: row.attempts })
      return false
    }
    default:
      return result satisfies never
  }
}

async function conclude(row: LessonRow, outcome: string, { db }: Pick<TeachDeps, 'db'>): Promise<void> {
  await deleteLesson(db, row)
  lessonsCounter.inc({ lesson: row.lesson, outcome })
}

/** Is the message where the lesson says it does not belong? It was moved there without a lesson, such as by a scan. */
function contradicts(lesson: LessonRow['lesson'], folder: Folder): boolean {
  if (folder === 'quarantine') return true
  return lesson === 'spam' ? folder === 'inbox' || folder === 'archive' : folder === 'spam'
}

/** Doubles after each attempt, from one minute up to one hour. */
function waitAfter(attempts: number): number {
  return Math.min(minuteMs * 2 ** Math.min(attempts - 1, 10), longestWaitMs)
}
