import { cursorRefusals, decodeCursor, encodeCursor, invalidCursor } from '../api/page.ts'
import type { Db } from '../base/database/database.ts'
import type { Id } from '../base/ids.ts'
import { refuse } from '../base/refusal.ts'
import { selectFloor, selectLastSequence } from './table.ts'

/** The cursor after the event with this sequence. Opaque to readers. */
export function eventCursor(sequence: number): string {
  return encodeCursor(String(sequence))
}

/** The cursor before the oldest event that is kept. */
const oldestCursor = '0'

/** The refusals of {@link readEventCursor}. */
export const eventCursorRefusals = [...cursorRefusals, 'cursor_expired'] as const

/**
 * The sequence after which a reader goes on: without a cursor the newest end, `0` the oldest that is kept.
 * @throws Refusal `invalid_cursor`; `cursor_expired` where events after it were deleted
 */
export async function readEventCursor(db: Db, organizationId: Id<'org'>, cursor: string | undefined): Promise<number> {
  if (cursor === oldestCursor) return 0
  const last = await selectLastSequence(db)
  if (cursor === undefined) return last
  const [text = ''] = decodeCursor(cursor, 1, 'after')
  const sequence = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!(sequence <= last)) throw invalidCursor(cursor, 'after')
  await requireKept(db, organizationId, sequence)
  return sequence
}

/**
 * Requires that no event of the organization after this sequence was deleted.
 * @throws Refusal `cursor_expired`, with where to go on from
 */
async function requireKept(db: Db, organizationId: Id<'org'>, after: number): Promise<void> {
  const floor = await selectFloor(db, organizationId)
  if (after >= floor) return
  const oldestAfter = eventCursor(floor)
  throw refuse('cursor_expired', {
    message: `Events after \`after\` have passed their retention time and are deleted; go on from ${oldestAfter}.`,
    param: 'after',
    oldestAfter,
  })
}
