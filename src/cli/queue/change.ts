import { UsageError } from '../../base/operator-error.ts'
import { changeQueue } from '../../sending/queue/change-queue.ts'
import type { QueueAction, QueueOutcome } from '../../sending/queue/operator-queue.ts'
import { maxHoldReasonLength } from '../../sending/queue/selection.ts'
import type { QueueFilter } from '../../sending/queue/table.ts'
import { type CommandOutput, defineCommand, type Environment } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { withDatabase } from '../database.ts'
import { openProgressLine } from '../progress-line.ts'
import { requireOrganization } from '../require-organization.ts'
import { dryRun, emailId } from '../values.ts'
import { filterOptions, requireSelection } from './filter.ts'

const emails = { email: { ...emailId, repeatable: true } } as const
const options = { ...filterOptions, all: { description: 'the whole queue' }, 'dry-run': dryRun }

export const retry = defineCommand({
  name: 'queue retry',
  summary: 'Make the next attempt now instead of after its wait',
  details: `Recipients that are held or scheduled stay so. While the relay's circuit breaker is open, still only one email at
a time is tried.`,
  arguments: emails,
  options,
  run: ({ email, all, 'dry-run': isDryRun, ...filter }, { env }) =>
    change({ kind: 'retry' }, requireSelection(email, filter, all), isDryRun, env),
})

export const hold = defineCommand({
  name: 'queue hold',
  summary: 'Keep what is in the queue from being sent, until it is released',
  details: `What is accepted later is not held. A hold does not extend the life of an email: it fails when its expires_in (at
most 5 days) is over, held or not, and its event then says that it was held. ./mailroom queue list shows when.`,
  arguments: emails,
  options: {
    ...options,
    reason: {
      placeholder: 'TEXT',
      description: 'a note for operators, shown by queue list but not by the API',
      read: readReason,
    },
  },
  run: ({ email, all, 'dry-run': isDryRun, reason, ...filter }, { env }) =>
    change({ kind: 'hold', reason: reason ?? null }, requireSelection(email, filter, all), isDryRun, env),
})

export const release = defineCommand({
  name: 'queue release',
  summary: 'Send what is held: at once, or at the time it is scheduled for',
  arguments: emails,
  options,
  run: ({ email, all, 'dry-run': isDryRun, ...filter }, { env }) =>
    change({ kind: 'release' }, requireSelection(email, filter, all), isDryRun, env),
})

export const cancel = defineCommand({
  name: 'queue cancel',
  summary: 'Remove recipients from the queue for good',
  details: 'They get the status canceled, with an event that names the operator.',
  arguments: emails,
  options,
  run: ({ email, all, 'dry-run': isDryRun, ...filter }, { env }) =>
    change({ kind: 'cancel' }, requireSelection(email, filter, all), isDryRun, env),
})

function readReason(text: string): string | null {
  const reason = text.trim()
  if (reason.length > maxHoldReasonLength)
    throw new UsageError(`a reason has at most ${maxHoldReasonLength} characters`)
  return reason || null
}

const verbs: Readonly<Record<QueueAction['kind'], { readonly done: string; readonly dryRun: string }>> = {
  retry: { done: 'Due now', dryRun: 'Would be due now' },
  hold: { done: 'Held', dryRun: 'Would hold' },
  release: { done: 'Released', dryRun: 'Would release' },
  cancel: { done: 'Canceled', dryRun: 'Would cancel' },
}

const inFlight: Readonly<Record<QueueAction['kind'], string>> = {
  retry: 'being submitted now',
  hold: 'being submitted now: this attempt is finished, and no other is made while they are held',
  release: 'being submitted since before they were held',
  cancel: 'being submitted now and cannot be canceled; run the command again',
}

/** What the output says of the recipients with this outcome. */
function describeOutcome(kind: QueueAction['kind'], outcome: QueueOutcome): string {
  switch (outcome) {
    case 'in_flight':
      return inFlight[kind]
    case 'as_it_was':
      return kind === 'hold' ? 'held already' : 'not held'
    case 'held':
      return 'held, and stay so'
    case 'scheduled':
      return 'scheduled for later, and stay so'
    case 'done':
      return verbs[kind].done
    default:
      return outcome satisfies never
  }
}

async function change(
  action: QueueAction,
  filter: QueueFilter,
  isDryRun: boolean,
  env: Environment,
): Promise<CommandOutput> {
  const progress = openProgressLine('recipients')
  const { counts, notQueued } = await withDatabase(env, async db => {
    if (filter.organizationId !== undefined) await requireOrganization(db, filter.organizationId)
    const operator = currentOperator(env)
    return changeQueue(db, { filter, action, operator, isDryRun, onProgress: count => progress.report(count) })
  }).finally(() => progress.end())
  const { done, ...others } = counts
  const remarks = Object.entries(others).filter(([, count]) => count > 0)
  return {
    json: { action: action.kind, dry_run: isDryRun, ...counts, not_queued: notQueued },
    text: [
      `${verbs[action.kind][isDryRun ? 'dryRun' : 'done']}: ${done} ${done === 1 ? 'recipient' : 'recipients'}.`,
      ...remarks.map(([outcome, count]) => `${count} ${describeOutcome(action.kind, outcome as QueueOutcome)}.`),
      ...notQueued.map(id => `${id} has nothing in the queue.`),
    ].join('\n'),
  }
}
