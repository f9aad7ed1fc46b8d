import { sql } from 'kysely'
import { type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { type Flag, fromJson, type Json } from '../../base/database/schema.ts'
import { padToPowerOfTwo } from '../../base/database/select-rows.ts'
import { type Id, newSortableToken } from '../../base/ids.ts'
import { type Acceptance, ambiguousAfterLease, type ClaimedRecipient, type FlowKey, flowName } from './outbox.ts'

export interface ClaimOptions {
  /** At least 1. */
  readonly maxRows: number
  readonly leaseMs: number
  readonly now: Instant
  /** Claim only recipients whose time has run out: while the circuit breaker is open. */
  readonly expiredOnly: boolean
  /** How many rows of a flow may be claimed. */
  readonly roomOf: (flow: FlowKey) => number
  /**
   * Has this process the row in hand? Then it is not claimed, whatever its lease says: the lease of a row that is being
   * submitted, or whose outcome waits to be written, runs out while the database is away.
   */
  readonly isInHand: (id: Id<'out'>) => boolean
}

export interface Claim {
  readonly recipients: readonly ClaimedRecipient[]
  /** Was something due that was not claimed? */
  readonly isMoreDue: boolean
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
): Promise<Claim> {
  const { maxRows, now, leaseMs } = options
  const lease = newSortableToken()
  return inTransaction(db, async tx => {
    const oldest = await lockOldestDue(tx, options)
    let rows = selectFitting(oldest, options)
    const isMoreDue = rows.length < oldest.length
    if (isMoreDue && !options.expiredOnly) {
      const flows = await nextFlows(tx, Math.min(maxRows, maxFlows))
      rows = selectFitting([...(await lockFairShares(tx, flows, options)), ...oldest], options)
    }
    if (rows.length === 0) return { recipients: [], isMoreDue }
    await updateClaimed(
      tx,
      rows.map(row => row.id),
      lease,
      plusMs(now, leaseMs),
    )
    return { recipients: await selectClaimed(tx, rows, lease), isMoreDue }
  })
}

const maxFlows = 50

/** A row that is due; `lease`: of an earlier claim that was never settled. */
interface DueRow extends FlowKey {
  readonly id: Id<'out'>
  readonly lease: string | null
  readonly submitting: Flag | null
}

/** The first rows for which there is room. */
function selectFitting(
  rows: readonly DueRow[],
  { maxRows, roomOf, isInHand }: Pick<ClaimOptions, 'maxRows' | 'roomOf' | 'isInHand'>,
): readonly DueRow[] {
  const fitting = new Map<Id<'out'>, DueRow>()
  const rooms = new Map<string, number>()
  for (const row of rows) {
    if (fitting.size === maxRows) break
    if (fitting.has(row.id) || isInHand(row.id)) continue
    const flow = flowName(row)
    const room = rooms.get(flow) ?? roomOf(row)
    rooms.set(flow, Math.max(0, room - 1))
    if (room > 0) fitting.set(row.id, row)
  }
  return [...fitting.values()]
}

const dueColumns = ['id', 'organization_id as organizationId', 'destination', 'lease', 'submitting'] as const

/** One more than `maxRows`, to see whether there is a backlog. */
async function lockOldestDue(db: Db, { now, maxRows, expiredOnly }: ClaimOptions): Promise<readonly DueRow[]> {
  let due = db.selectFrom('outbox').select(dueColumns).where('due_at', '<=', now)
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
  { maxRows, now }: ClaimOptions,
): Promise<readonly DueRow[]> {
  if (flows.length === 0) return []
  const share = sql.lit(Math.ceil(maxRows / flows.length))
  const selects = flows.map(
    flow => sql`(SELECT id, organization_id AS organizationId, destination, lease, submitting FROM outbox
      WHERE organization_id = ${flow.organizationId} AND destination = ${flow.destination} AND due_at <= ${now}
      ORDER BY due_at LIMIT ${share} FOR UPDATE SKIP LOCKED)`,
  )
  const { rows } = await sql<DueRow>`${sql.join(selects, sql` UNION ALL `)}`.execute(db)
  return rows
}

/**
 * Writes the claim. What another process may have submitted is marked for good: from now on each event says that there may
 * be two copies.
 */
async function updateClaimed(db: Db, ids: readonly Id<'out'>[], lease: string, until: Instant): Promise<void> {
  await db
    .updateTable('outbox')
    // Of the row as it was: assignments are made from left to right.
    .set({
      ambiguous: ambiguousAfterLease,
      lease,
      submitting: 0,
      due_at: until,
    })
    .where('id', 'in', padToPowerOfTwo(ids))
    .execute()
}

async function selectClaimed(db: Db, due: readonly DueRow[], lease: string): Promise<readonly ClaimedRecipient[]> {
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
      'outbox.destination',
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
      'outbox.ambiguous',
      'outbox.accepted',
      'emails.blob_id as blobId',
      'emails.unsubscribable',
      'blobs.size',
      'domains.status as domainStatus',
    ])
    .where('outbox.id', 'in', padToPowerOfTwo(due.map(row => row.id)))
    .execute()
  const reclaimed = new Set(due.filter(row => row.lease !== null && row.submitting !== 0).map(row => row.id))
  return rows.map(({ domainStatus, unsubscribable, ambiguous, accepted, ...row }) => ({
    ...row,
    lease,
    size: Number(row.size),
    isReady: domainStatus === 'verified',
    unsubscribe: unsubscribable === 1,
    isReclaimed: accepted === null && reclaimed.has(row.id),
    isAmbiguous: ambiguous === 1,
    acceptance: accepted === null ? null : fromJson(accepted as Json<Acceptance>),
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
