import { type Insertable, sql } from 'kysely'
import type { Instant } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import { insertRows } from '../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../base/database/schema.ts'
import { executeUpdate, padToPowerOfTwo, placeholders, selectRows } from '../base/database/select-rows.ts'
import type { Id } from '../base/ids.ts'
import type { EventType } from './event-types.ts'

/** An event that has its place in the order. */
export interface SequencedEvent {
  /** Unique in the instance, and ascending; without a meaning in its gaps. */
  readonly sequence: number
  readonly id: Id<'evt'>
  readonly organization_id: Id<'org'>
  readonly brand_id: Id<'brd'> | null
  readonly mailbox_id: Id<'mbx'> | null
  readonly type: EventType
  readonly occurred_at: Instant
  /** JSON text, as it is given out. */
  readonly data: string
}

/** Inserts events without a sequence. */
export async function insertEvents(db: Db, rows: readonly Insertable<DatabaseSchema['events']>[]): Promise<void> {
  await insertRows(db, 'events', rows)
}

/** The sequence of the newest event: all up to it can be read, and no other event gets one up to it. 0: there was none. */
export async function selectLastSequence(db: Db): Promise<number> {
  const [row] = await selectRows<{ readonly last: number | string }>(
    db,
    `SELECT GREATEST(passed, COALESCE((SELECT MAX(sequence) FROM events), 0)) AS last FROM event_sequence WHERE id = 1`,
    [],
  )
  return Number(row?.last ?? 0)
}

/** An event that has no sequence yet. */
export interface UnsequencedEvent {
  readonly position: number
  readonly created_at: Instant
}

/** The committed events that have no sequence yet, in the order in which they were written. */
export function selectUnsequenced(db: Db, limit: number): Promise<readonly UnsequencedEvent[]> {
  // The oldest are found in the index alone, however many there are.
  return selectRows<UnsequencedEvent>(
    db,
    `SELECT STRAIGHT_JOIN e.position, e.created_at FROM
      (SELECT position FROM events FORCE INDEX (events_sequence) WHERE sequence IS NULL ORDER BY position LIMIT ${limit}) oldest
      INNER JOIN events e FORCE INDEX (PRIMARY) ON e.position = oldest.position ORDER BY e.position`,
    [],
  )
}

/**
 * Gives the events at these positions, which are ascending, the numbers after `last`, in one statement. Those that have one
 * keep it.
 * @throws a duplicate on `events_sequence` where one of the numbers is given: then nothing changed
 */
export async function updateSequences(db: Db, positions: readonly number[], last: number): Promise<number> {
  const runs = runsOf(positions)
  let given = last
  const numbers = runs.map(({ first, length }) => {
    const offset = given + 1 - first
    given += length
    return `WHEN position < ${first + length} THEN position ${offset < 0 ? '-' : '+'} ${Math.abs(offset)}`
  })
  // Whole numbers as text: a statement with so many parameters would have to be prepared for each number of them. Found by
  // position alone: by its sequence it would wait for events that are not committed yet.
  return await executeUpdate(
    db,
    `UPDATE events FORCE INDEX (PRIMARY) SET sequence = COALESCE(sequence, CASE ${numbers.join(' ')} END)
      WHERE position IN (${positions.join(', ')})`,
    [],
  )
}

/** Ascending numbers, as runs without gaps. */
function runsOf(positions: readonly number[]): readonly { readonly first: number; readonly length: number }[] {
  const runs: { first: number; length: number }[] = []
  for (const position of positions) {
    const run = runs.at(-1)
    if (run && run.first + run.length === position) run.length += 1
    else runs.push({ first: position, length: 1 })
  }
  return runs
}

/** Which of the events a reader wants. What is absent does not matter. */
export interface EventFilter {
  readonly organizationId: Id<'org'>
  readonly types?: readonly EventType[] | undefined
  readonly brandId?: Id<'brd'> | null | undefined
  readonly mailboxIds?: readonly Id<'mbx'>[] | undefined
  /** Does `mailboxIds` narrow only the events that have a mailbox, and leave the others in? */
  readonly keepsOthers?: boolean | undefined
}

/** From `after` on, which is left out, through `through`. */
export interface SequenceRange {
  readonly after: number
  readonly through: number
}

const columns = 'sequence, id, organization_id, brand_id, mailbox_id, type, occurred_at, data'

/** The events in this range that match the filter, in order; with `DESC` the newest first. */
export async function selectEventsIn(
  db: Db,
  { organizationId, types, brandId, mailboxIds, keepsOthers = false }: EventFilter,
  { after, through }: SequenceRange,
  limit: number,
  order: 'ASC' | 'DESC' = 'ASC',
): Promise<readonly SequencedEvent[]> {
  const conditions = ['organization_id = ?', 'sequence > ?', 'sequence <= ?']
  const parameters: unknown[] = [organizationId, String(after), String(through)]
  const among = (column: string, values: readonly string[], keepsNull = false) => {
    const padded = padToPowerOfTwo(values)
    const isAmong = `${column} IN (${placeholders(padded)})`
    conditions.push(keepsNull ? `(${column} IS NULL OR ${isAmong})` : isAmong)
    parameters.push(...padded)
  }
  if (types) among('type', types)
  if (brandId != null) among('brand_id', [brandId])
  if (mailboxIds) among('mailbox_id', mailboxIds, keepsOthers)
  const rows = await selectRows<SequencedEvent>(
    db,
    `SELECT ${columns} FROM events FORCE INDEX (events_organization)
      WHERE ${conditions.join(' AND ')} ORDER BY sequence ${order} LIMIT ${limit}`,
    parameters,
  )
  return rows.map(row => ({ ...row, sequence: Number(row.sequence) }))
}

/** The sequence of an organization's event so many after the first in this range, with `DESC` before the last; undefined: it has no more than that. */
export async function selectSequenceAt(
  db: Db,
  organizationId: Id<'org'>,
  { after, through }: SequenceRange,
  offset: number,
  order: 'ASC' | 'DESC' = 'ASC',
): Promise<number | undefined> {
  const [row] = await selectRows<{ readonly sequence: number | string }>(
    db,
    `SELECT sequence FROM events FORCE INDEX (events_organization)
      WHERE organization_id = ? AND sequence > ? AND sequence <= ? ORDER BY sequence ${order} LIMIT 1 OFFSET ${offset}`,
    [organizationId, String(after), String(through)],
  )
  return row && Number(row.sequence)
}

/** Which types of events each organization has in this range. */
export function selectTypesIn(
  db: Db,
  { after, through }: SequenceRange,
): Promise<readonly { readonly organization_id: Id<'org'>; readonly type: EventType }[]> {
  return selectRows(
    db,
    `SELECT DISTINCT organization_id, type FROM events FORCE INDEX (events_sequence)
      WHERE sequence > ? AND sequence <= ?`,
    [String(after), String(through)],
  )
}

/** How far an organization's events were deleted; 0: none were. */
export async function selectFloor(db: Db, organizationId: Id<'org'>): Promise<number> {
  const [row] = await selectRows<{ readonly deleted_until: number | string }>(
    db,
    'SELECT deleted_until FROM event_floors WHERE organization_id = ?',
    [organizationId],
  )
  return Number(row?.deleted_until ?? 0)
}

/** A deleted event, for {@link deleteEvents}. */
export interface DeletedEvent {
  readonly organizationId: Id<'org'>
  readonly sequence: number
}

/** Deletes events, and records how far those of each organization are gone, in the caller's transaction. */
export async function deleteEvents(tx: Db, events: readonly DeletedEvent[]): Promise<void> {
  if (events.length === 0) return
  const sequences = events.map(event => event.sequence)
  const floors = Map.groupBy(events, event => event.organizationId)
  await sql`UPDATE event_sequence SET passed = GREATEST(passed, ${sql.lit(Math.max(...sequences))}) WHERE id = 1`.execute(
    tx,
  )
  await insertRows(
    tx,
    'event_floors',
    Array.from(floors, ([organizationId, ofOrganization]) => ({
      organization_id: organizationId,
      deleted_until: Math.max(...ofOrganization.map(event => event.sequence)),
    })),
    'ON DUPLICATE KEY UPDATE deleted_until = GREATEST(deleted_until, VALUES(deleted_until))',
  )
  await executeUpdate(tx, `DELETE FROM events WHERE sequence IN (${sequences.join(', ')})`, [])
}

/** More than the events that an instance can have written since its last backup. */
const skippedSequences = 1_000_000_000

/**
 * Lets the next events get numbers that were never given, after a restore: readers have seen events since the backup, and would
 * take new ones with the same numbers for those.
 */
export async function skipSequences(db: Db): Promise<void> {
  const last = await selectLastSequence(db)
  await db
    .updateTable('event_sequence')
    .set({ passed: last + skippedSequences })
    .where('id', '=', 1)
    .execute()
}
