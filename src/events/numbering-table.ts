import type { Instant } from '../base/clock.ts'
import { type Db, isLockedRow } from '../base/database/database.ts'
import { executeUpdate, selectRows } from '../base/database/select-rows.ts'
import type { PositionGap, SeenPositions } from './position-gaps.ts'

/** What a round of numbering begins with. */
export interface NumberingStart {
  /** The last sequence that was given. */
  readonly last: number
  /** Every event up to this position has a sequence, and none can come. */
  readonly watermark: number
  /** When the event with the given sequence was written; null: it is gone, or never was. */
  readonly writtenAt: Instant | null
}

/** @param sequence of the event whose time is wanted */
export async function selectNumberingStart(db: Db, sequence: number): Promise<NumberingStart> {
  const [row] = await selectRows<{
    readonly last: number | string
    readonly watermark: number | string
    readonly written_at: Instant | null
  }>(
    db,
    `SELECT GREATEST(s.passed, COALESCE((SELECT MAX(sequence) FROM event_numbers), 0)) AS last, w.position AS watermark,
        (SELECT e.created_at FROM event_numbers n STRAIGHT_JOIN events e ON e.position = n.position WHERE n.sequence = ?)
          AS written_at
      FROM event_sequence s, event_watermark w WHERE s.id = 1 AND w.id = 1`,
    [String(sequence)],
  )
  return { last: Number(row?.last ?? 0), watermark: Number(row?.watermark ?? 0), writtenAt: row?.written_at ?? null }
}

/** An event that was not seen yet. */
export interface UnseenEvent {
  readonly position: number
  /** null: it is still to be numbered. */
  readonly sequence: number | null
  readonly created_at: Instant
}

/** Events that one call wrote, at positions in a row: almost always all that it wrote. */
interface UnseenRun {
  readonly first: number | string
  readonly last: number | string
  readonly count: number | string
  /** The sequence of each, less its position; null: they are still to be numbered. */
  readonly shift: number | string | null
  readonly created_at: Instant
}

/**
 * The first committed events at the positions that were not seen, in the order in which they were written.
 * @param areUnnumbered the caller takes it that none of them has a sequence: then that is not looked up
 */
export async function selectUnseenEvents(
  db: Db,
  seen: SeenPositions,
  limit: number,
  areUnnumbered = false,
): Promise<readonly UnseenEvent[]> {
  const unseen = `${areUnnumbered ? selectAfter(seen) : selectWithSequences(seen)} ORDER BY e.position LIMIT ${limit}`
  // A row for each event costs this process more than the look-up costs the database.
  const runs = await selectRows<UnseenRun>(
    db,
    `SELECT MIN(position) AS first, MAX(position) AS last, COUNT(*) AS count, created_at,
        CAST(sequence AS SIGNED) - CAST(position AS SIGNED) AS shift
      FROM (${unseen}) u GROUP BY created_at, shift ORDER BY first`,
    [],
  )
  if (runs.every(isWithoutGaps)) return runs.flatMap(eventsOf)
  const rows = await selectRows<UnseenEvent>(db, unseen, [])
  return rows.map(({ position, sequence, created_at }) => ({
    position: Number(position),
    sequence: sequence === null ? null : Number(sequence),
    created_at,
  }))
}

function selectWithSequences({ through, gaps }: SeenPositions): string {
  const ranges = gaps.map(({ first, last, isMerged }) =>
    isMerged
      ? `(e.position BETWEEN ${first} AND ${last} AND n.position IS NULL)`
      : `e.position BETWEEN ${first} AND ${last}`,
  )
  return `SELECT e.position, n.sequence, e.created_at FROM events e FORCE INDEX (PRIMARY)
      LEFT JOIN event_numbers n FORCE INDEX (event_numbers_position) ON n.position = e.position
      WHERE ${[...ranges, `e.position > ${through}`].join(' OR ')}`
}

function selectAfter({ through }: SeenPositions): string {
  return `SELECT e.position, NULL AS sequence, e.created_at FROM events e FORCE INDEX (PRIMARY)
      WHERE e.position > ${through}`
}

function isWithoutGaps({ first, last, count }: UnseenRun): boolean {
  return Number(last) - Number(first) + 1 === Number(count)
}

function eventsOf({ first, count, shift, created_at }: UnseenRun): readonly UnseenEvent[] {
  return Array.from({ length: Number(count) }, (_, i) => {
    const position = Number(first) + i
    return { position, sequence: shift === null ? null : position + Number(shift), created_at }
  })
}

/**
 * Gives the events at these positions, which are ascending, the numbers after `last`, in one statement, which locks nothing that
 * is there already.
 * @throws a duplicate where one of the numbers is given, or one of the events has one: then nothing changed
 */
export async function insertNumbers(db: Db, positions: readonly number[], last: number): Promise<void> {
  const runs = runsOf(positions)
  let given = last
  const numbers = runs.map(run => {
    const offset = given + 1 - run.first
    given += run.last + 1 - run.first
    return `WHEN position <= ${run.last} THEN position ${offset < 0 ? '-' : '+'} ${Math.abs(offset)}`
  })
  const ranges = runs.map(({ first, last: end }) => `position BETWEEN ${first} AND ${end}`)
  // Whole numbers as text: a statement with so many parameters would have to be prepared for each number of them.
  await executeUpdate(
    db,
    `INSERT INTO event_numbers (sequence, position, organization_id)
      SELECT CASE ${numbers.join(' ')} END, position, organization_id FROM events FORCE INDEX (PRIMARY)
      WHERE ${ranges.join(' OR ')}`,
    [],
  )
}

/** Ascending numbers, as runs without gaps. */
function runsOf(positions: readonly number[]): readonly { readonly first: number; readonly last: number }[] {
  const runs: { first: number; last: number }[] = []
  for (const position of positions) {
    const run = runs.at(-1)
    if (run && run.last + 1 === position) run.last = position
    else runs.push({ first: position, last: position })
  }
  return runs
}

/** Whether no transaction that is still open has a row in this gap. It locks those that are committed, for the moment. */
export async function isUnlockedGap(db: Db, { first, last }: PositionGap): Promise<boolean> {
  try {
    await selectRows(
      db,
      `SELECT COUNT(position) FROM events FORCE INDEX (PRIMARY) WHERE position BETWEEN ? AND ? FOR UPDATE NOWAIT`,
      [String(first), String(last)],
    )
    return true
  } catch (error) {
    if (isLockedRow(error)) return false
    throw error
  }
}

/** Raises the watermark. Nothing else locks its row, and it is one statement: a process that stops keeps nobody waiting. */
export async function raiseWatermark(db: Db, position: number): Promise<void> {
  await executeUpdate(db, 'UPDATE event_watermark SET position = ? WHERE id = 1 AND position < ?', [
    String(position),
    String(position),
  ])
}

/**
 * Sets the watermark by what the tables hold, while nobody writes events: after a restore the positions of new events go on
 * after the highest that is left, which may be below those of before.
 */
export async function resetWatermark(db: Db): Promise<void> {
  const [row] = await selectRows<{ readonly watermark: number | string }>(
    db,
    `SELECT COALESCE(
        (SELECT MIN(e.position) - 1 FROM events e LEFT JOIN event_numbers n ON n.position = e.position
          WHERE n.position IS NULL),
        (SELECT MAX(position) FROM events), 0) AS watermark`,
    [],
  )
  await executeUpdate(db, 'UPDATE event_watermark SET position = ? WHERE id = 1', [String(row?.watermark ?? 0)])
}
