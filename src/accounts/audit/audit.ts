import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { newId } from '../../base/ids.ts'
import { insertAuditEntry } from './table.ts'

/** Something that an operator does by command. */
export interface AuditEntry {
  /** What kind of thing and what to it: `quarantine.release`. */
  readonly action: string
  /** What it is done to: an id, or what the command was told to take (`domain:example.com`). */
  readonly subject: string
  /** What else one wants to know of it later; no secrets, and nothing of what messages say. */
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Who does it, and when. */
export interface Operator {
  /** The user of the operating system. */
  readonly actor: string
  readonly clock: Clock
}

/** Writes down what is being done, in the transaction that does it. */
export async function recordAuditEntry(
  db: Db,
  { actor, clock }: Operator,
  { action, subject, detail = {} }: AuditEntry,
): Promise<void> {
  const row = { id: newId('aud'), at: clock.now(), actor: actor.slice(0, 120), action, subject: subject.slice(0, 320) }
  await insertAuditEntry(db, { ...row, detail: toJson(detail) })
}
