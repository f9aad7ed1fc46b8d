import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type DatabaseSchema, type EmailStatus, type Flag, toJson } from '../../base/database/schema.ts'
import { executeUpdate, padToPowerOfTwo, placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'
import type { SubmissionOutcome } from '../../ports/provider/port.ts'

/** What is claimed round robin: the emails of one organization to one domain. */
export interface FlowKey {
  readonly organizationId: Id<'org'>
  readonly destination: string
}

/** A flow as one text. */
export function flowName({ organizationId, destination }: FlowKey): string {
  return `${organizationId} ${destination}`
}

/** That the provider has taken a message, and what it replied. */
export interface Acceptance {
  readonly at: Instant
  readonly outcome: Extract<SubmissionOutcome, { readonly kind: 'accepted' }>
}

/** A recipient claimed for submission, and all that its delivery needs. */
export interface ClaimedRecipient extends FlowKey {
  readonly id: Id<'out'>
  /** The fencing token of the claim. */
  readonly lease: string
  readonly emailId: Id<'eml'>
  readonly brandId: Id<'brd'>
  readonly domainId: Id<'dom'>
  readonly recipient: string
  /** 0-based, among the email's recipients. */
  readonly position: number
  readonly recipientStatus: EmailStatus
  /** Why the recipient has that status, and since when. */
  readonly statusDetail: string | null
  readonly statusSince: Instant
  readonly fromAddress: string
  readonly createdAt: Instant
  readonly scheduledAt: Instant | null
  readonly expiresAt: Instant
  /** Attempts made before this claim. */
  readonly attempts: number
  readonly lastReply: string | null
  /** Since when the operator holds it; null: it is not held. */
  readonly heldAt: Instant | null
  readonly blobId: Id<'blb'>
  /** Of the message, in bytes. */
  readonly size: number
  /** Is its domain ready to send? */
  readonly isReady: boolean
  /** Was it sent with `unsubscribe: true`? */
  readonly unsubscribe: boolean
  /** The lease of an earlier claim ran out unsettled, and that process may have submitted it. */
  readonly isReclaimed: boolean
  /** It may have been submitted before, at whatever attempt: the provider may get a copy now. */
  readonly isAmbiguous: boolean
  /** The provider has taken it from a process that died before it recorded that; null: no. */
  readonly acceptance: Acceptance | null
}

/** The earliest due time of all rows, past or to come; undefined: the outbox is empty. */
export async function selectOldestDueAt(db: Db): Promise<Instant | undefined> {
  const row = await db.selectFrom('outbox').select('due_at').orderBy('due_at').limit(sql.lit(1)).executeTakeFirst()
  return row?.due_at
}

type LeasedRow = Pick<ClaimedRecipient, 'id' | 'lease'>

/**
 * The condition that a row is one of these, still under the lease it was claimed with. Each row is claimed once by the caller,
 * so that a lease of another of them is none of its own.
 */
function underLease(rows: readonly LeasedRow[]) {
  const ids = padToPowerOfTwo(rows.map(row => row.id))
  const leases = padToPowerOfTwo([...new Set(rows.map(row => row.lease))])
  return {
    condition: `id IN (${placeholders(ids)}) AND lease IN (${placeholders(leases)})`,
    parameters: [...ids, ...leases],
  }
}

/**
 * Renews these leases until `until` at least: a statement that was delayed shortens no lease that was renewed since. Gives
 * how many of the rows are still under their leases.
 */
export async function updateLeaseEnds(db: Db, rows: readonly LeasedRow[], until: Instant): Promise<number> {
  if (rows.length === 0) return 0
  const { condition, parameters } = underLease(rows)
  return executeUpdate(db, `UPDATE outbox SET due_at = GREATEST(due_at, ?) WHERE ${condition}`, [until, ...parameters])
}

/** What is noted of a row: that it is about to be submitted (null), or that the provider has taken it. */
export interface SubmissionNote extends LeasedRow {
  readonly accepted: Acceptance | null
}

/**
 * Notes how far the submissions of these rows are. That one begins renews the lease as {@link updateLeaseEnds} does; that the
 * provider has taken it leaves the lease as it is, since `due_at` is in two indexes.
 */
export async function updateSubmitting(db: Db, notes: readonly SubmissionNote[], until: Instant): Promise<number> {
  const { condition, parameters } = underLease(notes)
  const accepted = padToPowerOfTwo(notes.filter(note => note.accepted !== null)).flatMap(({ id, accepted }) => [
    id,
    toJson(accepted),
  ])
  const change = accepted.length === 0 ? '' : `accepted = CASE id ${'WHEN ? THEN ? '.repeat(accepted.length / 2)}END,`
  // Of the row as it is now: assignments are made from left to right.
  const dueAt = 'IF(accepted IS NULL, GREATEST(due_at, ?), due_at)'
  const text = `UPDATE outbox SET ${change} submitting = 1, due_at = ${dueAt} WHERE ${condition}`
  return executeUpdate(db, text, [...accepted, until, ...parameters])
}

/** Those of the rows that are still under their leases. */
export async function selectStillLeased(db: Db, rows: readonly LeasedRow[]): Promise<ReadonlySet<Id<'out'>>> {
  const { condition, parameters } = underLease(rows)
  const found = await selectRows<Pick<LeasedRow, 'id'>>(db, `SELECT id FROM outbox WHERE ${condition}`, parameters)
  return new Set(found.map(row => row.id))
}

/** Who has a row of the outbox. */
export type LeaseState = Pick<DatabaseSchema['outbox'], 'id' | 'lease'> & { readonly submitting: Flag | null }

/** Those of the rows that exist, by id; they stay locked until the transaction ends. */
export async function lockLeaseStates(db: Db, ids: readonly Id<'out'>[]): Promise<ReadonlyMap<Id<'out'>, LeaseState>> {
  const padded = padToPowerOfTwo(ids)
  const text = `SELECT id, lease, submitting FROM outbox WHERE id IN (${placeholders(padded)}) ORDER BY id FOR UPDATE`
  const rows = await selectRows<LeaseState>(db, text, padded)
  return new Map(rows.map(row => [row.id, row]))
}

/** The outbox rows of an email, one a recipient still to be submitted; they stay locked until the transaction ends. */
export async function lockOutboxRowsOf(
  db: Db,
  emailId: Id<'eml'>,
): Promise<readonly Pick<DatabaseSchema['outbox'], 'id' | 'lease' | 'attempts'>[]> {
  return db
    .selectFrom('outbox')
    .select(['id', 'lease', 'attempts'])
    .where('email_id', '=', emailId)
    .forUpdate()
    .execute()
}

/** What `ambiguous` becomes once the lease of a row has run out: its process may have submitted it. SQL, of the row as it was. */
export const ambiguousAfterLease =
  'IF(lease IS NOT NULL AND COALESCE(submitting, 1) = 1 AND accepted IS NULL, 1, ambiguous)'

/** Deletes the rows of recipients that are not to be submitted any more. */
export async function deleteOutboxRows(db: Db, ids: readonly Id<'out'>[]): Promise<void> {
  if (ids.length === 0) return
  const padded = padToPowerOfTwo(ids)
  await executeUpdate(db, `DELETE FROM outbox WHERE id IN (${placeholders(padded)})`, padded)
}

/** A row that waits for another attempt. */
export interface RescheduledRow {
  readonly id: Id<'out'>
  readonly dueAt: Instant
  readonly attempts: number
  readonly lastReply: string | null
  /** May the provider have taken it, at this attempt or before? */
  readonly isAmbiguous: boolean
  /** When it is due instead, if nobody holds it any more. */
  readonly dueIfReleased?: Instant
}

/** Ends the leases of these rows and makes them due again later. */
export async function updateRescheduled(db: Db, rows: readonly RescheduledRow[]): Promise<void> {
  if (rows.length === 0) return
  const caseOf = (value: (row: RescheduledRow) => string | number | null | RawBuilder<unknown>) =>
    sql<never>`CASE id ${sql.join(
      rows.map(row => sql`WHEN ${row.id} THEN ${value(row)}`),
      sql` `,
    )} END`
  await db
    .updateTable('outbox')
    .set({
      lease: null,
      submitting: null,
      ambiguous: caseOf(row => Number(row.isAmbiguous)),
      due_at: caseOf(({ dueAt, dueIfReleased }) =>
        dueIfReleased ? sql`IF(held_at IS NULL, ${dueIfReleased}, ${dueAt})` : dueAt,
      ),
      attempts: caseOf(row => row.attempts),
      last_reply: caseOf(row => row.lastReply),
    })
    .where(
      'id',
      'in',
      rows.map(row => row.id),
    )
    .execute()
}
