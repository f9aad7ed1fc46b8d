import type { Operator } from '../../accounts/audit/audit.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { applyToQueue, type QueueAction, type QueueOutcome, type QueueSpan } from './operator-queue.ts'
import type { QueueFilter } from './table.ts'

export interface QueueChangeOptions {
  readonly filter: QueueFilter
  readonly action: QueueAction
  readonly operator: Operator
  /** Changes nothing, and counts what would be done. */
  readonly isDryRun: boolean
  /** Where to go on; absent: at the beginning. */
  readonly from?: QueueSpan
  /** Stops after so many recipients, or a few more. */
  readonly maxRecipients?: number
  /** Called after each batch with the number of recipients so far. */
  readonly onProgress?: (recipients: number) => void
}

/** What was done, or would be. */
export interface QueueChange {
  /** How many recipients there were, by what was done to them. */
  readonly counts: Readonly<Record<QueueOutcome, number>>
  /** Those of the emails in the filter that have nothing in the queue. */
  readonly notQueued: readonly Id<'eml'>[]
  /** Where the next call goes on; null: all were done. */
  readonly next: QueueSpan | null
}

/** Applies an operator's action to what the filter selects in the queue, and counts the outcomes. */
export async function changeQueue(db: Db, options: QueueChangeOptions): Promise<QueueChange> {
  const { filter, action, operator, isDryRun, from, maxRecipients = Number.POSITIVE_INFINITY, onProgress } = options
  const counts = { done: 0, in_flight: 0, as_it_was: 0, held: 0, scheduled: 0 }
  const found = new Set<Id<'eml'>>()
  let total = 0
  let next: QueueSpan | null = null
  for await (const batch of applyToQueue(db, filter, action, operator, { isDry: isDryRun, ...(from && { from }) })) {
    for (const { row, outcome } of batch.results) {
      counts[outcome]++
      if (filter.emailIds) found.add(row.emailId)
    }
    total += batch.results.length
    onProgress?.(total)
    if (total < maxRecipients) continue
    next = batch.next
    break
  }
  return { counts, notQueued: (filter.emailIds ?? []).filter(id => !found.has(id)), next }
}
