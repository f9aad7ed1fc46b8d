import { type Operator, recordAuditEntry } from '../../accounts/audit/audit.ts'
import type { Instant } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { cancelRecipients } from '../emails/cancel.ts'
import {
  lockQueue,
  type QueueFilter,
  type QueueRow,
  selectNewestInQueue,
  selectQueue,
  updateDue,
  updateHeld,
  updateParked,
  updateReleased,
  updateUnparked,
} from './table.ts'

/** What an operator does to recipients that are still to be submitted. */
export type QueueAction =
  /** The next attempt is made at once. Held and scheduled recipients stay as they are. */
  | { readonly kind: 'retry' }
  /**
   * No attempt is made until the recipient is released. That gives it no more time: if it is still held when it expires, it
   * fails, and the event says that it was held. A recipient in flight is held once that attempt is over.
   */
  | { readonly kind: 'hold'; readonly reason: string | null }
  /** A held recipient is due again, or waits for the time it is scheduled for. */
  | { readonly kind: 'release' }
  /** It is not sent any more. */
  | { readonly kind: 'cancel' }

/** What the action did to a recipient. */
export type QueueOutcome =
  | 'done'
  /**
   * A relay is submitting it, which is not interrupted, or is to record that the provider has taken it. A hold or a release
   * applies once that is over.
   */
  | 'in_flight'
  /** Nothing to do: held already, or not held. */
  | 'as_it_was'
  /** It is held, and stays so. */
  | 'held'
  /** It is to be sent later, and is not sent sooner. */
  | 'scheduled'

export interface QueueResult {
  readonly row: QueueRow
  readonly outcome: QueueOutcome
  /** May the provider have taken it, at an attempt whose outcome nobody knows? */
  readonly isAmbiguous: boolean
}

const batchSize = 200

/** A part of the queue: what was accepted after `after`, up to what was last in it when the action began. */
export interface QueueSpan {
  readonly after: string
  readonly upTo: Id<'out'>
}

export interface QueueBatch {
  readonly results: readonly QueueResult[]
  /** What is left; null: nothing. */
  readonly next: QueueSpan | null
}

export interface ApplyToQueueOptions {
  /** Only reports what it would do. */
  readonly isDry?: boolean
  /** What an earlier call left; absent: all that is in the queue now. */
  readonly from?: QueueSpan
}

/**
 * Applies an action to all recipients that the filter matches and that were in the queue when it began, in batches, while
 * relays run. Each batch is a transaction with an audit entry of its own; after an interruption the next run does the rest.
 */
export async function* applyToQueue(
  db: Db,
  filter: QueueFilter,
  action: QueueAction,
  operator: Operator,
  { isDry = false, from }: ApplyToQueueOptions = {},
): AsyncGenerator<QueueBatch> {
  const upTo = from?.upTo ?? (await selectNewestInQueue(db))
  for (let after: string | undefined = from?.after ?? ''; upTo !== undefined && after !== undefined; ) {
    const rows: readonly QueueRow[] = await selectQueue(db, filter, { after, upTo, limit: batchSize })
    const results = await inTransaction(db, async tx => {
      const outcomes = await findOutcomes(tx, rows, action, operator.clock.now())
      if (!isDry) await apply(tx, outcomes, { filter, action, operator })
      return outcomes
    })
    after = rows.length < batchSize ? undefined : rows.at(-1)?.id
    yield { results, next: after === undefined ? null : { after, upTo } }
  }
}

/** What the action does to each of the rows that still exists; they stay locked. */
async function findOutcomes(
  tx: Db,
  rows: readonly QueueRow[],
  action: QueueAction,
  now: Instant,
): Promise<readonly QueueResult[]> {
  const locked = await lockQueue(
    tx,
    rows.map(row => row.id),
  )
  return rows.flatMap(row => {
    const current = locked.get(row.id)
    if (!current) return []
    const { lease, due_at, held_at, attempts, isAccepted, isAmbiguous } = current
    const isScheduled = row.scheduledAt !== null && row.scheduledAt > now && attempts === 0
    const isInFlight = lease !== null && (due_at > now || isAccepted === 1)
    const outcome = outcomeOf(action, { isInFlight, isHeld: held_at !== null, isScheduled })
    return [{ row, outcome, isAmbiguous: isAmbiguous === 1 }]
  })
}

interface QueueRowState {
  readonly isInFlight: boolean
  readonly isHeld: boolean
  readonly isScheduled: boolean
}

function outcomeOf({ kind }: QueueAction, { isInFlight, isHeld, isScheduled }: QueueRowState): QueueOutcome {
  switch (kind) {
    case 'retry':
      if (isInFlight) return 'in_flight'
      if (isHeld) return 'held'
      return isScheduled ? 'scheduled' : 'done'
    case 'hold':
      if (isHeld) return 'as_it_was'
      return isInFlight ? 'in_flight' : 'done'
    case 'release':
      if (!isHeld) return 'as_it_was'
      return isInFlight ? 'in_flight' : 'done'
    case 'cancel':
      return isInFlight ? 'in_flight' : 'done'
    default:
      return kind satisfies never
  }
}

interface ApplyOptions {
  readonly filter: QueueFilter
  readonly action: QueueAction
  readonly operator: Operator
}

async function apply(
  tx: Db,
  results: readonly QueueResult[],
  { filter, action, operator }: ApplyOptions,
): Promise<void> {
  const done = results
    .filter(({ outcome }) => outcome === 'done')
    .map(({ row, isAmbiguous }) => ({ ...row, isAmbiguous }))
  const ids = done.map(row => row.id)
  const inFlight = results.filter(result => result.outcome === 'in_flight').map(result => result.row.id)
  const now = operator.clock.now()
  switch (action.kind) {
    case 'retry':
      await updateDue(tx, ids, now)
      break
    case 'hold':
      await updateHeld(tx, [...ids, ...inFlight], now, action.reason)
      await updateParked(tx, ids)
      break
    case 'release':
      await updateUnparked(tx, ids, now)
      await updateReleased(tx, [...ids, ...inFlight])
      break
    case 'cancel':
      await cancelRecipients(tx, done, now)
      break
    default:
      return action satisfies never
  }
  const changesInFlight = action.kind === 'hold' || action.kind === 'release'
  if (done.length > 0 || (changesInFlight && inFlight.length > 0))
    await recordAuditEntry(tx, operator, auditEntryOf(filter, action, done, inFlight))
}

function auditEntryOf(
  filter: QueueFilter,
  action: QueueAction,
  done: readonly QueueRow[],
  inFlight: readonly Id<'out'>[],
) {
  const { destination, organizationId, emailIds } = filter
  const target = emailIds?.length === 1 ? emailIds[0] : organizationId
  return {
    action: `queue.${action.kind}`,
    subject: target ?? (destination === undefined ? 'queue' : `domain:${destination}`),
    detail: {
      filter,
      recipients: done.length,
      in_flight: inFlight.length,
      emails: [...new Set(done.map(row => row.emailId))],
      ...(action.kind === 'hold' && { reason: action.reason }),
    },
  }
}
