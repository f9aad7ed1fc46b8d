import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { newId } from '../../base/ids.ts'
import { insertAuditEntry } from './table.ts'

/** Something that an operator did with a command. */
export interface AuditEntry {
  /** `<kind>.<verb>`, such as `quarantine.release`. */
  readonly action: string
  /** What it was done to: an id, or the selection that the command was given (`domain:example.com`). */
  readonly subject: string
  /** Anything else worth knowing later. Never secrets or message content. */
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Who runs the command, and the clock for its entries. */
export interface Operator {
  /** The operating system's user name. */
  readonly actor: string
  readonly clock: Clock
}

/** Inserts the audit entry, in the transaction that does the work. Actor and subject are cut to their columns' lengths. */
export async function recordAuditEntry(
  db: Db,
  { actor, clock }: Operator,
  { action, subject, detail = {} }: AuditEntry,
): Promise<void> {
  const row = { id: newId('aud'), at: clock.now(), actor: actor.slice(0, 120), action, subject: subject.slice(0, 320) }
  await insertAuditEntry(db, { ...row, detail: toJson(detail) })
}
