import type { Id } from '../../base/ids.ts'
import { UsageError } from '../../base/operator-error.ts'
import { applyToQueue, type QueueAction, type QueueOutcome } from '../../sending/queue/operator-queue.ts'
import { type CommandOutput, type Environment, readArguments, withDatabase } from '../command.ts'
import { requireOrganization } from '../ids.ts'
import { currentOperator } from '../operator.ts'
import { openProgressLine } from '../progress-line.ts'
import { requireSelection } from './filter.ts'

const maxReasonLength = 200

const past: Readonly<Record<QueueAction['kind'], readonly [done: string, would: string]>> = {
  retry: ['Due now', 'Would be due now'],
  hold: ['Held', 'Would hold'],
  release: ['Released', 'Would release'],
  cancel: ['Canceled', 'Would cancel'],
}

/** What is said of the recipients with each other outcome. */
function remarks(kind: QueueAction['kind']): Readonly<Record<Exclude<QueueOutcome, 'done'>, string>> {
  const inFlight: Readonly<Record<QueueAction['kind'], string>> = {
    retry: 'being submitted now',
    hold: 'being submitted now: this attempt is finished, another is not made while they are held',
    release: 'being submitted since before they were held',
    cancel: 'being submitted now, so that they cannot be canceled; run it again',
  }
  return {
    in_flight: inFlight[kind],
    as_it_was: kind === 'hold' ? 'held already' : 'not held',
    held: 'held, and stay so',
    scheduled: 'scheduled for later, and stay so',
  }
}

export async function runChange(
  kind: QueueAction['kind'],
  args: readonly string[],
  env: Environment,
): Promise<CommandOutput> {
  const called = readArguments(args, {
    rest: true,
    options: ['org', 'domain', 'status', ...(kind === 'hold' ? ['reason'] : [])],
    flags: ['all', 'dry-run'],
  })
  const filter = requireSelection(called)
  const reason = called.options['reason']?.trim() || null
  if (reason !== null && reason.length > maxReasonLength)
    throw new UsageError(`a reason has at most ${maxReasonLength} characters`)
  const work: QueueAction = kind === 'hold' ? { kind, reason } : { kind }
  const isDry = called.flags.has('dry-run')
  const tally = { done: 0, in_flight: 0, as_it_was: 0, held: 0, scheduled: 0 }
  const met = new Set<Id<'eml'>>()
  const progress = openProgressLine('recipients')
  await withDatabase(env, async db => {
    if (filter.organizationId !== undefined) await requireOrganization(db, filter.organizationId)
    let count = 0
    for await (const part of applyToQueue(db, filter, work, currentOperator(env), isDry)) {
      for (const { row, outcome } of part) {
        tally[outcome]++
        if (filter.emailIds) met.add(row.emailId)
      }
      count += part.length
      progress.report(count)
    }
  }).finally(() => progress.end())
  const notQueued = (filter.emailIds ?? []).filter(id => !met.has(id))
  return {
    json: { action: kind, dry_run: isDry, ...tally, not_queued: notQueued },
    text: [
      `${past[kind][isDry ? 1 : 0]}: ${tally.done} ${tally.done === 1 ? 'recipient' : 'recipients'}.`,
      ...Object.entries(remarks(kind)).flatMap(([outcome, says]) => {
        const count = tally[outcome as QueueOutcome]
        return count > 0 ? `${count} ${says}.` : []
      }),
      ...notQueued.map(id => `${id} has nothing in the queue.`),
    ].join('\n'),
  }
}
