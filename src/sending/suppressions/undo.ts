import { toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import {
  type CausedSuppression,
  deleteAutomaticSuppressions,
  type SuppressionIncident,
  selectIncidentSuppressions,
  selectNextSpan,
} from './undo-table.ts'

/** A suppression that was undone, with what had caused it. */
export interface UndoneSuppression {
  readonly organization_id: Id<'org'>
  readonly brand_id: Id<'brd'>
  readonly email: string
  readonly reason: string
  readonly evidence: string | null
  readonly source_email_id: Id<'eml'> | null
  readonly suppressed_at: string
  /** The recipient unsubscribed besides: that stays, and emails with `unsubscribe: true` are still not sent to them. */
  readonly stays_unsubscribed: boolean
}

/** What one batch undid. */
export interface UndoStep {
  /** How many suppressions have been checked since the beginning, undone or not. */
  readonly checkedCount: number
  readonly undone: readonly UndoneSuppression[]
}

const batchSize = 500

/** The automatic suppressions of an incident among the next few hundred after an id. */
export interface UndoBatch extends UndoStep {
  /** The last suppression that was checked: the next batch is after it. */
  readonly last: Id<'sup'>
}

export interface UndoBatchOptions {
  /** Only reports what it would do. */
  readonly isDry: boolean
  /** Records what was undone, in the transaction that does it. */
  readonly record?: (tx: Db, undone: readonly UndoneSuppression[]) => Promise<void>
}

/**
 * Undoes the automatic suppressions of an incident among the next 500 after an id (`''`: the first ones), in one transaction;
 * manual ones, and that a recipient unsubscribed, stay. undefined: there are no more to check.
 */
export async function undoBatch(
  db: Db,
  incident: SuppressionIncident,
  after: string,
  { isDry, record }: UndoBatchOptions,
): Promise<UndoBatch | undefined> {
  const span = await selectNextSpan(db, incident, { after, limit: batchSize })
  if (!span) return undefined
  const undone = await inTransaction(db, async tx => {
    const rows = await selectIncidentSuppressions(tx, incident, { ...span, lock: !isDry })
    const undone = rows.map(toUndone)
    if (isDry || rows.length === 0) return undone
    await deleteAutomaticSuppressions(
      tx,
      rows.map(causedSuppression => causedSuppression.id),
    )
    await record?.(tx, undone)
    return undone
  })
  return { checkedCount: span.count, undone, last: span.last }
}

/**
 * Undoes all automatic suppressions of an incident, in batches. Yields each batch as it goes; after an interruption the next
 * run does the rest.
 * @param isDry only reports what it would do
 */
export async function* undoSuppressions(
  db: Db,
  incident: SuppressionIncident,
  isDry: boolean,
): AsyncGenerator<UndoStep> {
  let checkedCount = 0
  for (let after = ''; ; ) {
    const batch = await undoBatch(db, incident, after, { isDry })
    if (!batch) return
    checkedCount += batch.checkedCount
    yield { checkedCount, undone: batch.undone }
    after = batch.last
  }
}

function toUndone({ id: _, created_at, unsubscribed_at, ...row }: CausedSuppression): UndoneSuppression {
  return { ...row, suppressed_at: toIso(created_at), stays_unsubscribed: unsubscribed_at !== null }
}
