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

/** Inserts events, which are still to be numbered. */
export async function insertEvents(db: Db, rows: readonly Insertable<DatabaseSchema['events']>[]): Promise<void> {
  await insertRows(db, 'events', rows)
}

/** The sequence of the newest event: all up to it can be read, and no other event gets one up to it. 0: there was none. */
export async function selectLastSequence(db: Db): Promise<number> {
  const [row] = await selectRows<{ readonly last: number | string }>(
    db,
    `SELECT GREATEST(passed, COALESCE((SELECT MAX(sequence) FROM event_numbers), 0)) AS last FROM event_sequence WHERE id = 1`,
    [],
  )
  return Number(row?.last ?? 0)
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

const columns = 'n.sequence, e.id, e.organization_id, e.brand_id, e.mailbox_id, e.type, e.occurred_at, e.data'

/** The events in this range that match the filter, in order; with `DESC` the newest first. */
export async function selectEventsIn(
  db: Db,
  { organizationId, types, brandId, mailboxIds, keepsOthers = false }: EventFilter,
  { after, through }: SequenceRange,
  limit: number,
  order: 'ASC' | 'DESC' = 'ASC',
): Promise<readonly SequencedEvent[]> {
  const conditions = ['n.organization_id = ?', 'n.sequence > ?', 'n.sequence <= ?']
  const parameters: unknown[] = [organizationId, String(after), String(through)]
  const among = (column: string, values: readonly string[], keepsNull = false) => {
    const padded = padToPowerOfTwo(values)
    const isAmong = `${column} IN (${placeholders(padded)})`
    conditions.push(keepsNull ? `(${column} IS NULL OR ${isAmong})` : isAmong)
    parameters.push(...padded)
  }
  if (types) among('e.type', types)
  if (brandId != null) among('e.brand_id', [brandId])
  if (mailboxIds) among('e.mailbox_id', mailboxIds, keepsOthers)
  const rows = await selectRows<SequencedEvent>(
    db,
    `SELECT ${columns} FROM event_numbers n FORCE INDEX (event_numbers_organization)
      STRAIGHT_JOIN events e ON e.position = n.position
      WHERE ${conditions.join(' AND ')} ORDER BY n.sequence ${order} LIMIT ${limit}`,
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
    `SELECT sequence FROM event_numbers FORCE INDEX (event_numbers_organization)
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
    `SELECT DISTINCT e.organization_id, e.type FROM event_numbers n FORCE INDEX (PRIMARY)
      STRAIGHT_JOIN events e ON e.position = n.position WHERE n.sequence > ? AND n.sequence <= ?`,
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
  await executeUpdate(
    tx,
    `DELETE n, e FROM event_numbers n STRAIGHT_JOIN events e ON e.position = n.position
      WHERE n.sequence IN (${sequences.join(', ')})`,
    [],
  )
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
