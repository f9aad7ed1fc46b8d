import type { Caller } from '../../api/caller.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { type Id, newId } from '../../base/ids.ts'
import { insertAuditEntry } from './table.ts'

/** Something that an operator did with a command, or a person in the dashboard. */
export interface AuditEntry {
  /** `<kind>.<verb>`, such as `quarantine.release`. */
  readonly action: string
  /** What it was done to: an id, or the selection that the command was given (`domain:example.com`). */
  readonly subject: string
  /** Anything else worth knowing later. Never secrets or message content. */
  readonly detail?: Readonly<Record<string, unknown>>
  /** The organization in which it was done; absent: the instance, or the person's own account. */
  readonly organizationId?: Id<'org'>
}

/** Who does it, and the clock for its entries. */
export interface Operator {
  /** The operating system's user name, or the email of a person. */
  readonly actor: string
  readonly clock: Clock
  /** The client's address; absent: a command. */
  readonly ip?: string
}

/** Inserts the audit entry, in the transaction that does the work. Actor and subject are cut to their columns' lengths. */
export async function recordAuditEntry(
  db: Db,
  { actor, clock, ip }: Operator,
  { action, subject, detail = {}, organizationId }: AuditEntry,
): Promise<void> {
  await insertAuditEntry(db, {
    id: newId('aud'),
    at: clock.now(),
    actor: actor.slice(0, 120),
    action,
    subject: subject.slice(0, 320),
    detail: toJson(detail),
    organization_id: organizationId ?? null,
    ip: ip?.slice(0, 45) ?? null,
  })
}

/** Who acts in an organization, for its audit log: a person or an API key; neither: a command, which records it itself. */
export type AuditedCaller = Pick<Caller, 'organizationId'> & Partial<Pick<Caller, 'keyId' | 'person'>>

/** Inserts the audit entry of what a caller did in their organization, in the transaction that does it. */
export async function recordCallerEntry(
  db: Db,
  { organizationId, keyId = null, person }: AuditedCaller,
  clock: Clock,
  entry: Omit<AuditEntry, 'organizationId'>,
): Promise<void> {
  const actor = person?.email ?? keyId
  if (actor === null) return
  await recordAuditEntry(db, { actor, clock, ...(person && { ip: person.ip }) }, { ...entry, organizationId })
}
