import { type ExpressionBuilder, sql } from 'kysely'
import { type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { DatabaseSchema, EmailStatus } from '../../base/database/schema.ts'
import { padToPowerOfTwo } from '../../base/database/select-rows.ts'
import { type Id, newSortableToken } from '../../base/ids.ts'

/** Emails of one organization to one domain: what takes turns with the others. */
export interface FlowKey {
  readonly organizationId: Id<'org'>
  readonly destination: string
}

/** A recipient taken for submission, and all that this needs. */
export interface ClaimedRecipient {
  readonly id: Id<'out'>
  /** The fencing token: what is not settled with it is not settled. */
  readonly lease: string
  readonly organizationId: Id<'org'>
  readonly emailId: Id<'eml'>
  readonly brandId: Id<'brd'>
  readonly domainId: Id<'dom'>
  readonly recipient: string
  /** 0-based, among the email's recipients. */
  readonly position: number
  readonly recipientStatus: EmailStatus
  readonly fromAddress: string
  readonly createdAt: Instant
  readonly scheduledAt: Instant | null
  readonly expiresAt: Instant
  /** Attempts that were made before. */
  readonly attempts: number
  readonly lastReply: string | null
  /** Since when the operator keeps it from being submitted; null: nothing does. */
  readonly heldAt: Instant | null
  readonly blobId: Id<'blb'>
  /** Of the message, in bytes. */
  readonly size: number
  /** Is its domain ready to send? */
  readonly isReady: boolean
  /** Was it sent with `unsubscribe: true`? */
  readonly unsubscribe: boolean
  /** Whoever had it before let the lease run out, and may have submitted it. */
  readonly isReclaimed: boolean
}

export interface ClaimOptions {
  /** How many rows at most; at least 1. */
  readonly maxRows: number
  readonly leaseMs: number
  readonly now: Instant
  /** Only what has run out of time, as long as nothing else can be done for it. */
  readonly expiredOnly: boolean
}

/**
 * Takes due rows under a lease, in one transaction. While all that is due fits, it goes by age; beyond that each lane that
 * `nextLanes` names gets an equal share first, so that no backlog holds up another's. Rows that another process is taking
 * are passed over.
 */
export async function claimDueRows(
  db: Db,
  options: ClaimOptions,
  nextLanes: (db: Db, count: number) => Promise<readonly FlowKey[]>,
): Promise<readonly ClaimedRecipient[]> {
  const { maxRows, now, leaseMs } = options
  const lease = newSortableToken()
  const taken = await inTransaction(db, async tx => {
    const oldest = await lockOldestDue(tx, options)
    const isBacklog = oldest.length > maxRows && !options.expiredOnly
    const shares = isBacklog
      ? await lockFairShares(tx, await nextLanes(tx, Math.min(maxRows, maxFlows)), maxRows, now)
      : []
    const taken = [...new Map([...shares, ...oldest].map(row => [row.id, row])).values()].slice(0, maxRows)
    if (taken.length > 0)
      await tx
        .updateTable('outbox')
        .set({ lease, due_at: plusMs(now, leaseMs) })
        .where('id', 'in', padToPowerOfTwo(taken.map(row => row.id)))
        .execute()
    return taken
  })
  if (taken.length === 0) return []
  const retaken = new Set(taken.filter(row => row.lease !== null).map(row => row.id))
  const claimed = await selectClaimed(
    db,
    taken.map(row => row.id),
    lease,
  )
  return claimed.map(loaded => ({ ...loaded, isReclaimed: retaken.has(loaded.id) }))
}

const maxFlows = 50

/** A row that is due; `lease`: of whoever had it before and did not give it back. */
type DueRow = Pick<DatabaseSchema['outbox'], 'id' | 'lease'>

/** One more than wanted, to see whether there are more. */
async function lockOldestDue(db: Db, { now, maxRows, expiredOnly }: ClaimOptions): Promise<readonly DueRow[]> {
  let due = db.selectFrom('outbox').select(['id', 'lease']).where('due_at', '<=', now)
  if (expiredOnly) due = due.where('expires_at', '<=', now)
  return due
    .orderBy('due_at')
    .limit(sql.lit(maxRows + 1))
    .forUpdate()
    .skipLocked()
    .execute()
}

async function lockFairShares(
  db: Db,
  lanes: readonly FlowKey[],
  want: number,
  now: Instant,
): Promise<readonly DueRow[]> {
  if (lanes.length === 0) return []
  const share = sql.lit(Math.ceil(want / lanes.length))
  const each = lanes.map(
    lane => sql`(SELECT id, lease FROM outbox
      WHERE organization_id = ${lane.organizationId} AND destination = ${lane.destination} AND due_at <= ${now}
      ORDER BY due_at LIMIT ${share} FOR UPDATE SKIP LOCKED)`,
  )
  const { rows } = await sql<DueRow>`${sql.join(each, sql` UNION ALL `)}`.execute(db)
  return rows
}

type Loaded = Omit<ClaimedRecipient, 'isReclaimed'>

async function selectClaimed(db: Db, ids: readonly Id<'out'>[], lease: string): Promise<readonly Loaded[]> {
  const rows = await db
    .selectFrom('outbox')
    .innerJoin('emails', 'emails.id', 'outbox.email_id')
    .innerJoin('email_recipients', join =>
      join
        .onRef('email_recipients.email_id', '=', 'outbox.email_id')
        .onRef('email_recipients.position', '=', 'outbox.position'),
    )
    .innerJoin('blobs', 'blobs.id', 'emails.blob_id')
    .leftJoin('domains', 'domains.id', 'emails.domain_id')
    .select([
      'outbox.id',
      'outbox.organization_id as organizationId',
      'outbox.email_id as emailId',
      'outbox.position',
      'emails.brand_id as brandId',
      'emails.domain_id as domainId',
      'email_recipients.email as recipient',
      'email_recipients.status as recipientStatus',
      'emails.from_address as fromAddress',
      'emails.created_at as createdAt',
      'emails.scheduled_at as scheduledAt',
      'outbox.expires_at as expiresAt',
      'outbox.attempts',
      'outbox.last_reply as lastReply',
      'outbox.held_at as heldAt',
      'emails.blob_id as blobId',
      'emails.unsubscribable',
      'blobs.size',
      'domains.status as domainStatus',
    ])
    .where('outbox.id', 'in', padToPowerOfTwo(ids))
    .where('outbox.lease', '=', lease)
    .execute()
  return rows.map(({ domainStatus, unsubscribable, ...row }) => ({
    ...row,
    lease,
    size: Number(row.size),
    isReady: domainStatus === 'verified',
    unsubscribe: unsubscribable === 1,
  }))
}

/**
 * The lanes after `after` in the order of their names, at most `walked` of them (all after the last: fewer), each with its
 * first due time.
 */
export async function selectFlows(
  db: Db,
  after: FlowKey | undefined,
  walked: number,
): Promise<readonly (FlowKey & { readonly dueAt: Instant })[]> {
  let lanes = db
    .selectFrom('outbox')
    .select(['organization_id as organizationId', 'destination'])
    .select(({ fn }) => fn.min('due_at').as('dueAt'))
  if (after) {
    const { organizationId, destination } = after
    lanes = lanes
      .where('organization_id', '>=', organizationId)
      .where(({ eb, or }) => or([eb('organization_id', '>', organizationId), eb('destination', '>', destination)]))
  }
  return lanes
    .groupBy(['organization_id', 'destination'])
    .orderBy('organization_id')
    .orderBy('destination')
    .limit(sql.lit(walked))
    .execute()
}

/** When the row that has been due longest is, or was, due; undefined: the outbox is empty. */
export async function selectOldestDueAt(db: Db): Promise<Instant | undefined> {
  const row = await db.selectFrom('outbox').select('due_at').orderBy('due_at').limit(sql.lit(1)).executeTakeFirst()
  return row?.due_at
}

type LeasedRow = Pick<ClaimedRecipient, 'id' | 'lease'>

/** Those of the rows that are still under the lease they were taken with. */
function isUnderLease(rows: readonly LeasedRow[]) {
  const byLease = Map.groupBy(rows, row => row.lease)
  return ({ eb, and, or }: ExpressionBuilder<DatabaseSchema, 'outbox'>) =>
    or(
      Array.from(byLease, ([lease, of]) => {
        const ids = padToPowerOfTwo(of.map(row => row.id))
        return and([eb('id', 'in', ids), eb('lease', '=', lease)])
      }),
    )
}

/** Moves the end of these leases; one that is lost already stays lost. */
export async function updateLeaseEnds(db: Db, rows: readonly LeasedRow[], until: Instant): Promise<void> {
  if (rows.length > 0) await db.updateTable('outbox').set({ due_at: until }).where(isUnderLease(rows)).execute()
}

/** The leases of these rows that still hold, by row; the rows stay locked until the transaction ends. */
export async function lockLeasedRows(db: Db, rows: readonly LeasedRow[]): Promise<ReadonlyMap<Id<'out'>, string>> {
  const locked = await db
    .selectFrom('outbox')
    .select(['id', 'lease'])
    .where(isUnderLease(rows))
    .orderBy('id')
    .forUpdate()
    .execute()
  return new Map(locked.map(row => [row.id, row.lease ?? '']))
}

/** What of an email is still to be submitted; the rows stay locked until the transaction ends. */
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

/** Removes the rows of recipients that reached their end. */
export async function deleteOutboxRows(db: Db, ids: readonly Id<'out'>[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom('outbox').where('id', 'in', padToPowerOfTwo(ids)).execute()
}

/** A row that waits for another attempt. */
export interface RescheduledRow {
  readonly id: Id<'out'>
  readonly dueAt: Instant
  readonly attempts: number
  readonly lastReply: string | null
}

/** Gives rows back with a later due time. */
export async function updateRescheduled(db: Db, rows: readonly RescheduledRow[]): Promise<void> {
  if (rows.length === 0) return
  const each = (value: (row: RescheduledRow) => string | number | null) =>
    sql<never>`CASE id ${sql.join(
      rows.map(row => sql`WHEN ${row.id} THEN ${value(row)}`),
      sql` `,
    )} END`
  await db
    .updateTable('outbox')
    .set({
      lease: null,
      due_at: each(row => row.dueAt),
      attempts: each(row => row.attempts),
      last_reply: each(row => row.lastReply),
    })
    .where(
      'id',
      'in',
      rows.map(row => row.id),
    )
    .execute()
}
