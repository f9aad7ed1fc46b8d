import { type Clock, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Folder } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { counter } from '../../base/observability/metrics.ts'
import { countLessons, insertLessons, type LessonRow } from './table.ts'

/** Messages of an organization that are about to be moved. */
export interface MessageMove {
  readonly organizationId: Id<'org'>
  readonly ids: readonly Id<'msg'>[]
  readonly folder: Folder
}

/** What is done in the transaction that moves messages, before it moves them. */
export type BeforeMove = (tx: Db, move: MessageMove) => Promise<void>

/** What moving messages depends on. */
export interface MoveDeps {
  readonly db: Db
  /** Absent: moves teach nobody. */
  readonly beforeMove?: BeforeMove | undefined
}

export const lessonsCounter = counter(
  'mailroom_spam_lessons_total',
  'Moves to and from spam that were to teach the spam filter, by what came of them.',
  ['lesson', 'outcome'],
)

/** A message that is moved again within this time is taught once: what the last move says. */
const settleMs = 10_000
/** Moves of an organization beyond so many that wait to be taught teach nothing. */
const maxWaiting = 10_000

/**
 * Queues what moves teach the spam filter: to spam, and from there to the inbox or the archive. Nothing is taught by deleting,
 * nor by what enters or leaves quarantine.
 */
export function queueLessons(clock: Clock): BeforeMove {
  return async (tx, { organizationId, ids, folder }) => {
    const lesson = lessonOf(folder)
    if (lesson === null || ids.length === 0) return
    if ((await countLessons(tx, organizationId, maxWaiting)) + ids.length > maxWaiting) {
      lessonsCounter.inc({ lesson, outcome: 'dropped' }, ids.length)
      return
    }
    const now = clock.now()
    await insertLessons(tx, {
      organizationId,
      ids,
      lesson,
      from: foldersBefore[lesson],
      now,
      dueAt: plusMs(now, settleMs),
    })
  }
}

function lessonOf(folder: Folder): LessonRow['lesson'] | null {
  switch (folder) {
    case 'spam':
      return 'spam'
    case 'inbox':
    case 'archive':
      return 'ham'
    case 'trash':
    case 'quarantine':
      return null
    default:
      return folder satisfies never
  }
}

/** The folders from which a move teaches it. */
const foldersBefore: Readonly<Record<LessonRow['lesson'], readonly Folder[]>> = {
  spam: ['inbox', 'archive', 'trash'],
  ham: ['spam'],
}
