import type { Clock } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { DeliveryEvent } from '../events/delivery-event.ts'
import { recordEvents } from '../events/events.ts'
import { selectRecordedEvents } from '../events/table.ts'
import { recordReports } from '../reports/reports.ts'
import {
  type ClaimedRecipient,
  deleteOutboxRows,
  type LeaseState,
  lockLeaseStates,
  updateRescheduled,
} from './outbox.ts'
import { bounceReport, type NextStep } from './outcome.ts'

/** What is to be written about one claimed recipient. */
export interface Settlement {
  readonly claimed: ClaimedRecipient
  readonly next: NextStep
  /** Does it follow from a submission? Then nobody else knows what the provider replied. */
  readonly isOutcome: boolean
}

/** `lost`: the row is no longer ours, and nothing was written. */
export type SettlementResult = 'written' | 'lost'

/** A transaction costs much and each further settlement little; that the provider took a message is noted before. */
const gatherMs = 20

/**
 * Writes settlements. Those that come within {@link gatherMs}, or while one is being written, share a transaction. A
 * settlement may be written again when it is not known whether it was: it is recorded once.
 */
export function newSettlementWriter(db: Db, clock: Clock): (settlement: Settlement) => Promise<SettlementResult> {
  return batched({ maxItems: 64, maxInFlight: 1, gatherMs, inPowersOfTwo: true }, settlements =>
    inTransaction(db, tx => writeSettlements(tx, settlements, clock)),
  )
}

/** What is written of one settlement. */
interface Effect {
  readonly settlement: Settlement
  readonly event: DeliveryEvent | null
  /** Is the outbox row still to be ended or rescheduled? */
  readonly changesRow: boolean
}

/** Statuses and events of the recipients, and their outbox rows deleted or rescheduled. */
async function writeSettlements(
  tx: Db,
  settlements: readonly Settlement[],
  clock: Clock,
): Promise<readonly SettlementResult[]> {
  const rows = await lockLeaseStates(
    tx,
    settlements.map(settlement => settlement.claimed.id),
  )
  const lost = settlements.filter(({ claimed }) => rows.get(claimed.id)?.lease !== claimed.lease)
  const ours = settlements.filter(settlement => !lost.includes(settlement))
  const late = await findLateOutcomes(tx, lost, rows)
  const effects: readonly Effect[] = [
    ...ours.map(settlement => ({ settlement, event: settlement.next.event, changesRow: true })),
    ...late.effects,
  ]
  await writeEffects(tx, effects, clock)
  const written = new Set([...effects.map(effect => effect.settlement), ...late.writtenBefore])
  return settlements.map(settlement => (written.has(settlement) ? 'written' : 'lost'))
}

async function writeEffects(tx: Db, effects: readonly Effect[], clock: Clock): Promise<void> {
  const now = clock.now()
  const events = effects.flatMap(({ event }) => event ?? [])
  const bounces = events.flatMap(event => bounceReport(event) ?? [])
  if (bounces.length > 0) await recordReports(tx, bounces, now)
  const settled = effects.filter(effect => effect.changesRow).map(effect => effect.settlement)
  await Promise.all([
    recordEvents(
      tx,
      events.filter(event => event.type !== 'bounced'),
      now,
    ),
    deleteOutboxRows(
      tx,
      settled.filter(({ next }) => next.kind === 'end').map(({ claimed }) => claimed.id),
    ),
    updateRescheduled(
      tx,
      settled.flatMap(({ claimed, next }) => (next.kind === 'retry' ? { ...next, id: claimed.id } : [])),
    ),
  ])
}

/**
 * What the provider replied counts also when the row is no longer ours:
 * - An earlier try of ours was committed, and its reply did not reach us: that is all.
 * - Nobody has begun to submit the row since (another process has claimed it, or the operator put it on hold): the reply ends
 *   it, and the other process finds nothing to submit.
 * - Somebody else has submitted it as well, or ended it: that the provider took it from us is recorded, as one of two copies.
 */
async function findLateOutcomes(
  tx: Db,
  lost: readonly Settlement[],
  rows: ReadonlyMap<string, LeaseState>,
): Promise<{ readonly effects: readonly Effect[]; readonly writtenBefore: readonly Settlement[] }> {
  const outcomes = lost.filter(({ isOutcome, next }) => isOutcome && next.event !== null)
  const events = outcomes.flatMap(({ next }) => next.event ?? [])
  const recorded = await selectRecordedEvents(tx, events)
  const isRecorded = ({ next }: Settlement) => next.event !== null && recorded.has(next.event)
  const effects = outcomes.flatMap((settlement): readonly Effect[] => {
    const { claimed, next } = settlement
    if (isRecorded(settlement) || next.kind !== 'end' || next.event === null) return []
    const row = rows.get(claimed.id)
    if (row && !mayBeSubmitting(row)) return [{ settlement, event: next.event, changesRow: true }]
    if (next.event.type !== 'sent') return []
    return [
      { settlement, event: { ...next.event, extra: { ...next.event.extra, ambiguous: true } }, changesRow: false },
    ]
  })
  return { effects, writtenBefore: outcomes.filter(isRecorded) }
}

function mayBeSubmitting({ lease, submitting }: LeaseState): boolean {
  return lease !== null && submitting !== 0
}
