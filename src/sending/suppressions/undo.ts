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

/** One suppression that was undone, with what had caused it. */
export interface UndoneSuppression {
  readonly organization_id: Id<'org'>
  readonly brand_id: Id<'brd'>
  readonly email: string
  readonly reason: string
  readonly evidence: string | null
  readonly source_email_id: Id<'eml'> | null
  readonly suppressed_at: string
  /** They unsubscribed besides: that stays, and sends with `unsubscribe: true` are still kept from them. */
  readonly stays_unsubscribed: boolean
}

/** What was done since the step before. */
export interface UndoStep {
  /** How many suppressions were looked at since the beginning, undone or not. */
  readonly checkedCount: number
  readonly undone: readonly UndoneSuppression[]
}

const atOnce = 500

/**
 * Takes the automatic suppressions of an incident off their lists, a few at a time; what people put there, and that someone
 * unsubscribed, stays. Gives an account of each as it goes; after an interruption the next run does the rest.
 * @param isDry only says what it would do
 */
export async function* undoSuppressions(
  db: Db,
  incident: SuppressionIncident,
  isDry: boolean,
): AsyncGenerator<UndoStep> {
  let looked = 0
  for (let after = ''; ; ) {
    const span = await selectNextSpan(db, incident, { after, most: atOnce })
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
    looked += span.count
    yield { checkedCount: looked, undone: rows.map(accountOf) }
    after = span.last
  }
}

function accountOf({ id: _, created_at, unsubscribed_at, ...row }: CausedSuppression): UndoneSuppression {
  return { ...row, suppressed_at: toIso(created_at), stays_unsubscribed: unsubscribed_at !== null }
}
