import { type Operator, recordAuditEntry } from '../accounts/audit/audit.ts'
import { CommandError } from '../base/operator-error.ts'
import { openRetention, type RetentionDeps } from './retention.ts'

/** The pause after each step, as a multiple of its duration: mail has the database to itself a third of the time. */
const pauseFactor = 0.5
const maxBusyTries = 30
const busyWaitMs = 1000

export interface RetentionRunOptions {
  readonly operator: Operator
  /** Called after each step with the number of items deleted so far. */
  readonly onProgress: (items: number) => void
  /** Ends the run after the step in progress. */
  readonly signal?: AbortSignal
}

/** What was deleted, by kind. */
export type RemovedItems = Readonly<Record<string, { readonly items: number; readonly bytes: number }>>

/**
 * Deletes now what has passed its retention time, instead of a little each minute, for an operator.
 * @throws CommandError while another process does it
 */
export async function runRetentionNow(
  deps: RetentionDeps,
  { operator, onProgress, signal }: RetentionRunOptions,
): Promise<RemovedItems> {
  const retention = openRetention(deps)
  const totals = new Map<string, { items: number; bytes: number }>()
  let items = 0
  const runRound = () =>
    retention.runRound({
      pause: tookMs => Bun.sleep(pauseFactor * tookMs),
      isStopping: () => signal?.aborted === true,
      onStep(name, step) {
        const total = totals.get(name) ?? { items: 0, bytes: 0 }
        totals.set(name, { items: total.items + step.items, bytes: total.bytes + step.bytes })
        items += step.items
        onProgress(items)
      },
    })
  for (let tries = 0, outcome = await runRound(); outcome !== 'done' && !signal?.aborted; outcome = await runRound()) {
    if (outcome === 'more') continue
    if (++tries > maxBusyTries) throw new CommandError('Another process is deleting what has expired.')
    await Bun.sleep(busyWaitMs)
  }
  const removed = Object.fromEntries(totals)
  await recordAuditEntry(deps.db, operator, { action: 'retention.run', subject: 'instance', detail: { removed } })
  return removed
}
