import { type ExpressionBuilder, sql } from 'kysely'
import { type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { DatabaseSchema, EmailStatus } from '../../base/database/schema.ts'
import { padToPowerOfTwo } from '../../base/database/select-rows.ts'
import { type Id, newSortableToken } from '../../base/ids.ts'

/** What is claimed round robin: the emails of one organization to one domain. */
export interface FlowKey {
  readonly organizationId: Id<'org'>
  readonly destination: string
}

/** A recipient claimed for submission, and all that its delivery needs. */
export interface ClaimedRecipient {
  readonly id: Id<'out'>
  /** The fencing token: nothing is written about the recipient by whoever has another. */
  readonly lease: string
  readonly organizationId: Id<'org'>
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
  /** The lease of an earlier claim ran out unsettled: that process may have submitted it. */
  readonly isReclaimed: boolean
}

export interface ClaimOptions {
  /** At least 1. */
  readonly maxRows: number
  readonly leaseMs: number
  readonly now: Instant
  /** Claim only recipients whose time has run out: while the circuit breaker is open. */
  readonly expiredOnly: boolean
}

/**
 * Claims due rows under a lease, in one transaction. When all that is due fits, it is claimed by age; otherwise each flow
 * that `nextFlows` names gets an equal share first, so that no backlog holds up another flow. Rows that another process is
 * claiming are skipped.
 */
export async function claimDueRows(
  db: Db,
  options: ClaimOptions,
  nextFlows: (db: Db, count: number) => Promise<readonly FlowKey[]>,
): Promise<readonly ClaimedRecipient[]> {
  const { maxRows, now, leaseMs } = options
  const lease = newSortableToken()
  const rows = await inTransaction(db, async tx => {
    const oldest = await lockOldestDue(tx, options)
    const isBacklog = oldest.length > maxRows && !options.expiredOnly
    const shares = isBacklog
      ? await lockFairShares(tx, await nextFlows(tx, Math.min(maxRows, maxFlows)), maxRows, now)
      : []
    const rows = [...new Map([...shares, ...oldest].map(row => [row.id, row])).values()].slice(0, maxRows)
    if (rows.length > 0)
      await tx
        .updateTable('outbox')
        .set({ lease, due_at: plusMs(now, leaseMs) })
        .where('id', 'in', padToPowerOfTwo(rows.map(row => row.id)))
        .execute()
    return rows
  })
  if (rows.length === 0) return []
  const reclaimed = new Set(rows.filter(row => row.lease !== null).map(row => row.id))
  const claimed = await selectClaimed(
    db,
    rows.map(row => row.id),
    lease,
  )
  return claimed.map(row => ({ ...row, isReclaimed: reclaimed.has(row.id) }))
}

const maxFlows = 50

/** A row that is due; `lease`: of an earlier claim that was never settled. */
type DueRow = Pick<DatabaseSchema['outbox'], 'id' | 'lease'>

/** One more than `maxRows`, to see whether there is a backlog. */
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
  flows: readonly FlowKey[],
  maxRows: number,
  now: Instant,
): Promise<readonly DueRow[]> {
  if (flows.length === 0) return []
  const share = sql.lit(Math.ceil(maxRows / flows.length))
  const selects = flows.map(
    flow => sql`(SELECT id, lease FROM outbox
      WHERE organization_id = ${flow.organizationId} AND destination = ${flow.destination} AND due_at <= ${now}
      ORDER BY due_at LIMIT ${share} FOR UPDATE SKIP LOCKED)`,
  )
  const { rows } = await sql<DueRow>`${sql.join(selects, sql` UNION ALL `)}`.execute(db)
  return rows
}

async function selectClaimed(
  db: Db,
  ids: readonly Id<'out'>[],
  lease: string,
): Promise<readonly Omit<ClaimedRecipient, 'isReclaimed'>[]> {
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
      'email_recipients.detail as statusDetail',
      'email_recipients.updated_at as statusSince',
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
 * The flows after `after` in the order of the index, at most `limit` (fewer: they are the last), each with its earliest due
 * time.
 */
export async function selectFlows(
  db: Db,
  after: FlowKey | undefined,
  limit: number,
): Promise<readonly (FlowKey & { readonly dueAt: Instant })[]> {
  let flows = db
    .selectFrom('outbox')
    .select(['organization_id as organizationId', 'destination'])
    .select(({ fn }) => fn.min('due_at').as('dueAt'))
  if (after) {
    const { organizationId, destination } = after
    flows = flows
      .where('organization_id', '>=', organizationId)
      .where(({ eb, or }) => or([eb('organization_id', '>', organizationId), eb('destination', '>', destination)]))
  }
  return flows
    .groupBy(['organization_id', 'destination'])
    .orderBy('organization_id')
    .orderBy('destination')
    .limit(sql.lit(limit))
    .execute()
}

/** The earliest due time of all rows, past or to come; undefined: the outbox is empty. */
export async function selectOldestDueAt(db: Db): Promise<Instant | undefined> {
  const row = await db.selectFrom('outbox').select('due_at').orderBy('due_at').limit(sql.lit(1)).executeTakeFirst()
  return row?.due_at
}

type LeasedRow = Pick<ClaimedRecipient, 'id' | 'lease'>

/** The condition that a row is one of these, still under the lease it was claimed with. */
function isUnderLease(rows: readonly LeasedRow[]) {
  const byLease = Map.groupBy(rows, row => row.lease)
  return ({ eb, and, or }: ExpressionBuilder<DatabaseSchema, 'outbox'>) =>
    or(
      Array.from(byLease, ([lease, ofLease]) => {
        const ids = padToPowerOfTwo(ofLease.map(row => row.id))
        return and([eb('id', 'in', ids), eb('lease', '=', lease)])
      }),
    )
}

/** Renews these leases until `until`; a lease that is lost already stays lost. */
export async function updateLeaseEnds(db: Db, rows: readonly LeasedRow[], until: Instant): Promise<void> {
  if (rows.length > 0) await db.updateTable('outbox').set({ due_at: until }).where(isUnderLease(rows)).execute()
}

/** The leases of those rows that are still under theirs, by row; the rows stay locked until the transaction ends. */
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

/** Deletes the rows of recipients that are not to be submitted any more. */
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

/** Ends the leases of these rows and makes them due again later. */
export async function updateRescheduled(db: Db, rows: readonly RescheduledRow[]): Promise<void> {
  if (rows.length === 0) return
  const caseOf = (value: (row: RescheduledRow) => string | number | null) =>
    sql<never>`CASE id ${sql.join(
      rows.map(row => sql`WHEN ${row.id} THEN ${value(row)}`),
      sql` `,
    )} END`
  await db
    .updateTable('outbox')
    .set({
      lease: null,
      due_at: caseOf(row => row.dueAt),
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
