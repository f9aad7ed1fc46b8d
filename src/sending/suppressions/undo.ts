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

/**
 * Undoes the automatic suppressions of an incident, in batches; manual ones, and that a recipient unsubscribed, stay. Yields
 * each batch as it goes; after an interruption the next run does the rest.
 * @param isDry only reports what it would do
 */
export async function* undoSuppressions(
  db: Db,
  incident: SuppressionIncident,
  isDry: boolean,
): AsyncGenerator<UndoStep> {
  let checkedCount = 0
  for (let after = ''; ; ) {
    const span = await selectNextSpan(db, incident, { after, limit: batchSize })
    if (!span) return
    const rows = await inTransaction(db, async tx => {
      const some = await selectIncidentSuppressions(tx, incident, { ...span, lock: !isDry })
      if (!isDry)
        await deleteAutomaticSuppressions(
          tx,
          some.map(causedSuppression => causedSuppression.id),
        )
      return some
    })
    checkedCount += span.count
    yield { checkedCount, undone: rows.map(toUndone) }
    after = span.last
  }
}

function toUndone({ id: _, created_at, unsubscribed_at, ...row }: CausedSuppression): UndoneSuppression {
  return { ...row, suppressed_at: toIso(created_at), stays_unsubscribed: unsubscribed_at !== null }
}
