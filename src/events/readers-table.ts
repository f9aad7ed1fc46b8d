import type { Instant } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import { executeUpdate, selectRows } from '../base/database/select-rows.ts'
import type { EventType } from './event-types.ts'

/** The jobs of ours that read the sequence. A migration inserts the row of each. */
export type EventReader = 'unconfirmed'

/** How far a reader has come, locked until the transaction ends; undefined: another process has it locked. */
export async function lockEventReader(tx: Db, name: EventReader): Promise<number | undefined> {
  const [row] = await selectRows<{ readonly sequence: number | string }>(
    tx,
    'SELECT sequence FROM event_readers WHERE name = ? FOR UPDATE SKIP LOCKED',
    [name],
  )
  return row && Number(row.sequence)
}

export async function updateEventReader(tx: Db, name: EventReader, sequence: number): Promise<void> {
  await executeUpdate(tx, 'UPDATE event_readers SET sequence = ? WHERE name = ?', [String(sequence), name])
}

/** An event of any organization. */
export interface OldEvent {
  readonly sequence: number
  readonly created_at: Instant
  /** null: it is of another type than the one that was asked for. */
  readonly data: string | null
}

/** The next events after a sequence that were written before a time, in order, whatever their type. */
export async function selectOldEvents(
  db: Db,
  {
    type,
    after,
    before,
    limit,
  }: { readonly type: EventType; readonly after: number; readonly before: Instant; readonly limit: number },
): Promise<readonly OldEvent[]> {
  const rows = await selectRows<OldEvent>(
    db,
    `SELECT n.sequence, e.created_at, CASE WHEN e.type = ? THEN e.data END AS data
      FROM event_numbers n FORCE INDEX (PRIMARY) STRAIGHT_JOIN events e ON e.position = n.position
      WHERE n.sequence > ? ORDER BY n.sequence LIMIT ${limit}`,
    [type, String(after)],
  )
  const end = rows.findIndex(row => row.created_at > before)
  return (end === -1 ? rows : rows.slice(0, end)).map(row => ({ ...row, sequence: Number(row.sequence) }))
}
