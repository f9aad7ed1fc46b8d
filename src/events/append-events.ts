import { type Instant, systemClock } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import { type Json, toJson } from '../base/database/schema.ts'
import { type Id, newId } from '../base/ids.ts'
import type { EventType } from './event-types.ts'
import { insertEvents } from './table.ts'

/** Something that happened, for programs that read events or get them delivered. */
export interface NewEvent {
  /** Absent: a new one. */
  readonly id?: Id<'evt'>
  readonly type: EventType
  readonly organizationId: Id<'org'>
  /** null: shown to keys of the whole organization only. */
  readonly brandId: Id<'brd'> | null
  readonly mailboxId?: Id<'mbx'> | null
  readonly occurredAt: Instant
  /** What is given out, as JSON of at most {@link maxEventBytes}. Never a body or an attachment. */
  readonly data: object
  /** What is given out instead where that is too large; absent: it never is. */
  readonly shortened?: () => object
}

/** Of the JSON of an event's `data`. */
export const maxEventBytes = 20 * 1024

/** A statement may have at most 65,535 values. */
const rowsPerInsert = 256

const listeners = new Set<() => void>()

/**
 * Writes events in the caller's transaction, which is that of their cause: they exist if it took place. Readers see them, in
 * this order, once the transaction is committed and a sequencer has numbered them. Of two transactions that both wrote
 * events, the one that began to write after the other was committed comes later.
 * @throws where the data of one is too large, also shortened: what causes events must not depend on what a stranger wrote
 */
export async function appendEvents(db: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const createdAt = systemClock.now()
  const rows = events.map(event => ({
    id: event.id ?? newId('evt'),
    organization_id: event.organizationId,
    brand_id: event.brandId,
    mailbox_id: event.mailboxId ?? null,
    type: event.type,
    occurred_at: event.occurredAt,
    data: dataOf(event),
    created_at: createdAt,
  }))
  for (let i = 0; i < rows.length; i += rowsPerInsert) await insertEvents(db, rows.slice(i, i + rowsPerInsert))
  for (const listener of listeners) listener()
}

/** Calls `listener` whenever this process has written events, which may not be committed yet. Gives the function that ends that. */
export function onEventsAppended(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function dataOf({ type, data, shortened }: NewEvent): Json<object> {
  const json = toJson(data)
  if (fits(json)) return json
  const shorter = toJson(shortened?.() ?? data)
  if (!fits(shorter)) throw new Error(`the data of an event ${type} has more than ${maxEventBytes} bytes`)
  return shorter
}

function fits(json: string): boolean {
  // A UTF-16 unit takes at most three bytes.
  return json.length * 3 <= maxEventBytes || Buffer.byteLength(json) <= maxEventBytes
}
