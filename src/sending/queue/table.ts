import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema, EmailStatus, Flag } from '../../base/database/schema.ts'
import { padToPowerOfTwo } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'
import { ambiguousAfterLease } from '../relay/outbox.ts'

/** Which recipients that are still to be submitted; an absent field matches all. */
export interface QueueFilter {
  readonly emailIds?: readonly Id<'eml'>[]
  readonly organizationId?: Id<'org'>
  /** The recipients' domain. */
  readonly destination?: string
  readonly status?: EmailStatus
  readonly isHeld?: boolean
}

/** A recipient that is still to be submitted, as an operator sees it. */
export interface QueueRow {
  readonly id: Id<'out'>
  readonly organizationId: Id<'org'>
  readonly emailId: Id<'eml'>
  readonly recipient: string
  readonly status: EmailStatus
  readonly fromAddress: string
  readonly acceptedAt: Instant
  readonly scheduledAt: Instant | null
  /** The next attempt; of one in flight, the end of its lease. */
  readonly dueAt: Instant
  readonly expiresAt: Instant
  readonly attempts: number
  readonly lastReply: string | null
  readonly lease: string | null
  readonly heldAt: Instant | null
  readonly heldReason: string | null
}

/** A part of the queue, in the order of acceptance. */
export interface QueueRange {
  readonly after: string
  /** Inclusive. */
  readonly upTo?: string
  readonly limit: number
}

/** At most `limit` recipients of the range. */
export async function selectQueue(db: Db, filter: QueueFilter, range: QueueRange): Promise<readonly QueueRow[]> {
  const { emailIds, organizationId, destination, status, isHeld } = filter
  let query = db
    .selectFrom('outbox')
    .innerJoin('emails', 'emails.id', 'outbox.email_id')
    .innerJoin('email_recipients', join =>
      join
        .onRef('email_recipients.email_id', '=', 'outbox.email_id')
        .onRef('email_recipients.position', '=', 'outbox.position'),
    )
    // From the outbox to the others, so that rows come in the order of its index and no page is sorted.
    .modifyFront(sql`STRAIGHT_JOIN`)
    .select([
      'outbox.id',
      'outbox.organization_id as organizationId',
      'outbox.email_id as emailId',
      'email_recipients.email as recipient',
      'email_recipients.status',
      'emails.from_address as fromAddress',
      'outbox.created_at as acceptedAt',
      'emails.scheduled_at as scheduledAt',
      'outbox.due_at as dueAt',
      'outbox.expires_at as expiresAt',
      'outbox.attempts',
      'outbox.last_reply as lastReply',
      'outbox.lease',
      'outbox.held_at as heldAt',
      'outbox.held_reason as heldReason',
    ])
    .where('outbox.id', '>', range.after as Id<'out'>)
  if (range.upTo !== undefined) query = query.where('outbox.id', '<=', range.upTo as Id<'out'>)
  if (emailIds !== undefined) query = query.where('outbox.email_id', 'in', padToPowerOfTwo(emailIds))
  if (organizationId !== undefined) query = query.where('outbox.organization_id', '=', organizationId)
  if (destination !== undefined) query = query.where('outbox.destination', '=', destination)
  if (status !== undefined) query = query.where('email_recipients.status', '=', status)
  if (isHeld !== undefined) query = query.where('outbox.held_at', isHeld ? 'is not' : 'is', null)
  return query.orderBy('outbox.id').limit(sql.lit(range.limit)).execute()
}

/** The recipient accepted last; undefined: the queue is empty. */
export async function selectNewestInQueue(db: Db): Promise<Id<'out'> | undefined> {
  const row = await db.selectFrom('outbox').select('id').orderBy('id', 'desc').limit(sql.lit(1)).executeTakeFirst()
  return row?.id
}

/** An email, whether or not it is still in the queue; undefined: there is none. */
export function selectQueuedEmail(db: Db, id: Id<'eml'>) {
  return db
    .selectFrom('emails')
    .select(['id', 'organization_id', 'brand_id', 'from_address', 'subject', 'status', 'created_at', 'expires_at'])
    .where('id', '=', id)
    .executeTakeFirst()
}

type LockedRow = Pick<DatabaseSchema['outbox'], 'id' | 'lease' | 'due_at' | 'attempts'> & {
  readonly held_at: Instant | null
  /** The provider has taken it, which a relay is still to record. */
  readonly isAccepted: number
  /** The provider may have taken it, or takes it now. */
  readonly isAmbiguous: number
}

/** Those of the rows that still exist, locked until the transaction ends. */
export async function lockQueue(db: Db, ids: readonly Id<'out'>[]): Promise<ReadonlyMap<Id<'out'>, LockedRow>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('outbox')
    .select(['id', 'lease', 'due_at', 'attempts', 'held_at', sql.raw<Flag>(ambiguousAfterLease).as('isAmbiguous')])
    .select(sql<number>`accepted IS NOT NULL`.as('isAccepted'))
    .where('id', 'in', padToPowerOfTwo(ids))
    .orderBy('id')
    .forUpdate()
    .execute()
  return new Map(rows.map(row => [row.id, row]))
}

/** Makes these unclaimed rows due at `at`. */
export async function updateDue(db: Db, ids: readonly Id<'out'>[], at: Instant): Promise<void> {
  if (ids.length > 0)
    await db.updateTable('outbox').set({ due_at: at }).where('id', 'in', padToPowerOfTwo(ids)).execute()
}

/** Marks these rows as held. */
export async function updateHeld(db: Db, ids: readonly Id<'out'>[], at: Instant, reason: string | null): Promise<void> {
  if (ids.length > 0)
    await db
      .updateTable('outbox')
      .set({ held_at: at, held_reason: reason })
      .where('id', 'in', padToPowerOfTwo(ids))
      .execute()
}

/** Makes these unclaimed rows due when they expire, so that no relay claims them before. */
export async function updateParked(db: Db, ids: readonly Id<'out'>[]): Promise<void> {
  if (ids.length > 0)
    await db
      .updateTable('outbox')
      // Of the row as it was: assignments are made from left to right.
      .set({
        ambiguous: sql.raw<Flag>(ambiguousAfterLease),
        due_at: sql<Instant>`expires_at`,
        lease: null,
        submitting: null,
      })
      .where('id', 'in', padToPowerOfTwo(ids))
      .execute()
}

/** Marks these rows as not held. */
export async function updateReleased(db: Db, ids: readonly Id<'out'>[]): Promise<void> {
  if (ids.length > 0)
    await db
      .updateTable('outbox')
      .set({ held_at: null, held_reason: null })
      .where('id', 'in', padToPowerOfTwo(ids))
      .execute()
}

/** Makes these unclaimed rows due as if they had not been held: now, or when they are scheduled. */
export async function updateUnparked(db: Db, ids: readonly Id<'out'>[], now: Instant): Promise<void> {
  if (ids.length > 0)
    await db
      .updateTable('outbox')
      .set({
        due_at: sql<Instant>`GREATEST(${now},
          COALESCE((SELECT scheduled_at FROM emails WHERE emails.id = outbox.email_id), ${now}))`,
      })
      .where('id', 'in', padToPowerOfTwo(ids))
      .execute()
}
