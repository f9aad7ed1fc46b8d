import { sql } from 'kysely'
import { type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { type DatabaseSchema, type Flag, fromJson, type Json } from '../../base/database/schema.ts'
import { executeUpdate, padToPowerOfTwo, placeholders, selectRows } from '../../base/database/select-rows.ts'
import { type Id, newSortableToken } from '../../base/ids.ts'
import { type Acceptance, ambiguousAfterLease, type ClaimedRecipient, type FlowKey, flowName } from './outbox.ts'

export interface ClaimOptions {
  /** At least 1. */
  readonly maxRows: number
  readonly leaseMs: number
  readonly now: Instant
  /** Claim only recipients whose time has run out: while the circuit breaker is open. */
  readonly expiredOnly: boolean
  /** Was more due at the last claim than was claimed? Then what is oldest is looked at only if no flow has anything due. */
  readonly isBacklog: boolean
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
    const shares = async () => lockFairShares(tx, await nextFlows(tx, Math.min(maxRows, maxFlows)), options)
    let rows = options.isBacklog && !options.expiredOnly ? selectFitting(await shares(), options) : []
    let isMoreDue = true
    if (rows.length === 0) {
      const oldest = await lockOldestDue(tx, options)
      rows = selectFitting(oldest, options)
      isMoreDue = rows.length < oldest.length
      if (isMoreDue && !options.expiredOnly) rows = selectFitting([...(await shares()), ...oldest], options)
    }
    if (rows.length === 0) return { recipients: [], isMoreDue }
    const [, recipients] = await Promise.all([
      updateClaimed(
        tx,
        rows.map(row => row.id),
        lease,
        plusMs(now, leaseMs),
      ),
      // Runs after the update.
      selectClaimed(tx, rows, lease),
    ])
    return { recipients, isMoreDue }
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

const dueColumns = 'id, organization_id AS organizationId, destination, lease, submitting'

/** At least one more than `maxRows`, to see whether there is a backlog. */
async function lockOldestDue(db: Db, { now, maxRows, expiredOnly }: ClaimOptions): Promise<readonly DueRow[]> {
  const condition = expiredOnly ? 'due_at <= ? AND expires_at <= ?' : 'due_at <= ?'
  return selectRows<DueRow>(
    db,
    `SELECT ${dueColumns} FROM outbox WHERE ${condition} ORDER BY due_at LIMIT ${limitFor(maxRows + 1)} FOR UPDATE SKIP LOCKED`,
    expiredOnly ? [now, now] : [now],
  )
}

/** So many or more: a power of two, so that there are few different statements, which stay prepared. */
function limitFor(count: number): number {
  return 2 ** Math.ceil(Math.log2(count))
}

async function lockFairShares(
  db: Db,
  flows: readonly FlowKey[],
  { maxRows, now, roomOf }: ClaimOptions,
): Promise<readonly DueRow[]> {
  if (flows.length === 0) return []
  const share = Math.ceil(maxRows / flows.length)
  const limit = limitFor(Math.min(share, Math.max(1, ...flows.map(roomOf))))
  const select = `(SELECT ${dueColumns} FROM outbox WHERE organization_id = ? AND destination = ? AND due_at <= ?
    ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`
  return selectRows<DueRow>(
    db,
    flows.map(() => select).join(' UNION ALL '),
    flows.flatMap(flow => [flow.organizationId, flow.destination, now]),
  )
}

/**
 * Writes the claim. What another process may have submitted is marked for good: from now on each event says that there may
 * be two copies.
 */
async function updateClaimed(db: Db, ids: readonly Id<'out'>[], lease: string, until: Instant): Promise<void> {
  const padded = padToPowerOfTwo(ids)
  // Of the row as it was: assignments are made from left to right.
  const text = `UPDATE outbox SET ambiguous = ${ambiguousAfterLease}, lease = ?, submitting = 0, due_at = ?
    WHERE id IN (${placeholders(padded)})`
  await executeUpdate(db, text, [lease, until, ...padded])
}

/** A claimed row as the database has it. */
interface ClaimedRow
  extends Omit<
    ClaimedRecipient,
    'lease' | 'size' | 'isReady' | 'unsubscribe' | 'isReclaimed' | 'isAmbiguous' | 'acceptance'
  > {
  readonly size: number | string
  readonly domainStatus: DatabaseSchema['domains']['status'] | null
  readonly unsubscribable: Flag
  readonly ambiguous: Flag
  readonly accepted: Json<Acceptance> | null
}

const claimedColumns = `o.id, o.organization_id AS organizationId, o.destination, o.email_id AS emailId, o.position,
  e.brand_id AS brandId, e.domain_id AS domainId, r.email AS recipient, r.status AS recipientStatus,
  r.detail AS statusDetail, r.updated_at AS statusSince, e.from_address AS fromAddress, e.created_at AS createdAt,
  e.scheduled_at AS scheduledAt, o.expires_at AS expiresAt, o.attempts, o.last_reply AS lastReply, o.held_at AS heldAt,
  o.ambiguous, o.accepted, e.blob_id AS blobId, e.unsubscribable, b.size, d.status AS domainStatus`

async function selectClaimed(db: Db, due: readonly DueRow[], lease: string): Promise<readonly ClaimedRecipient[]> {
  const ids = padToPowerOfTwo(due.map(row => row.id))
  const rows = await selectRows<ClaimedRow>(
    db,
    `SELECT ${claimedColumns} FROM outbox o
     INNER JOIN emails e ON e.id = o.email_id
     INNER JOIN email_recipients r ON r.email_id = o.email_id AND r.position = o.position
     INNER JOIN blobs b ON b.id = e.blob_id
     LEFT JOIN domains d ON d.id = e.domain_id
     WHERE o.id IN (${placeholders(ids)})`,
    ids,
  )
  const reclaimed = new Set(due.filter(row => row.lease !== null && row.submitting !== 0).map(row => row.id))
  return rows.map(({ domainStatus, unsubscribable, ambiguous, accepted, ...row }) => ({
    ...row,
    lease,
    size: Number(row.size),
    isReady: domainStatus === 'verified',
    unsubscribe: unsubscribable === 1,
    isReclaimed: accepted === null && reclaimed.has(row.id),
    isAmbiguous: ambiguous === 1,
    acceptance: accepted === null ? null : fromJson(accepted),
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
