import type { Id } from '../../base/ids.ts'
import { UsageError } from '../../base/operator-error.ts'
import { changeQuarantined, type QuarantineAction } from '../../inbox/quarantine/quarantine.ts'
import { maxSelectedMessages } from '../../inbox/quarantine/schema.ts'
import type { QuarantineFilter } from '../../inbox/quarantine/table.ts'
import { type CommandOutput, defineCommand, type Environment } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { withDatabase } from '../database.ts'
import { openProgressLine } from '../progress-line.ts'
import { requireOrganization } from '../require-organization.ts'
import { dryRun, messageId } from '../values.ts'
import { filterOptions, quarantineFilter } from './filter.ts'

const messages = { message: { ...messageId, repeatable: true } } as const
const options = { ...filterOptions, 'dry-run': dryRun }

export const release = defineCommand({
  name: 'quarantine release',
  summary: 'Move messages from quarantine to the inbox of their mailbox',
  details: `Give messages by id, or --sha256. A released message can be read, downloaded and forwarded like any other. The
verdict of the scanner stays visible (scan, scan_signature), and folder_reason is "released"; if the message is moved back
to quarantine, it is withheld again. A message that could not be scanned is still scanned again later, and is put back if
something is found.`,
  arguments: messages,
  options,
  run: ({ message, org, sha256, 'dry-run': isDryRun }, { env }) =>
    change('release', requireSelection(org, sha256, message), isDryRun, env),
})

export const remove = defineCommand({
  name: 'quarantine delete',
  summary: 'Delete messages in quarantine for good',
  details: 'Give messages by id, or --sha256.',
  arguments: messages,
  options,
  run: ({ message, org, sha256, 'dry-run': isDryRun }, { env }) =>
    change('delete', requireSelection(org, sha256, message), isDryRun, env),
})

export const rescan = defineCommand({
  name: 'quarantine rescan',
  summary: 'Scan messages that could not be scanned again, now',
  details: `Give messages by id, or --sha256. A process with the role smtp scans them within seconds: what is clean goes where it
would have gone, what is infected stays. Messages that were found infected are not scanned again.`,
  arguments: messages,
  options,
  run: ({ message, org, sha256, 'dry-run': isDryRun }, { env }) =>
    change('rescan', requireSelection(org, sha256, message), isDryRun, env),
})

/** @throws UsageError */
function requireSelection(
  org: Id<'org'> | undefined,
  sha256: Buffer | undefined,
  ids: readonly Id<'msg'>[],
): QuarantineFilter {
  if (ids.length > 0 === (sha256 !== undefined)) throw new UsageError('say which ones: messages by id, or --sha256')
  if (ids.length > maxSelectedMessages) throw new UsageError(`at most ${maxSelectedMessages} messages at once`)
  return quarantineFilter({ org, sha256 }, ids)
}

const pastTense = {
  release: { done: 'Released', dryRun: 'Would release' },
  delete: { done: 'Deleted', dryRun: 'Would delete' },
  rescan: { done: 'Will scan', dryRun: 'Would scan' },
} as const

async function change(
  action: QuarantineAction,
  filter: QuarantineFilter,
  isDryRun: boolean,
  env: Environment,
): Promise<CommandOutput> {
  const progress = openProgressLine('messages')
  const operator = currentOperator(env)
  const { messages, notFound } = await withDatabase(env, async db => {
    if (filter.organizationId !== undefined) await requireOrganization(db, filter.organizationId)
    const onProgress = (count: number) => progress.report(count)
    return await changeQuarantined(db, { filter, action, operator, isDryRun, onProgress })
  }).finally(() => progress.end())
  const verb = pastTense[action][isDryRun ? 'dryRun' : 'done']
  const missing = action === 'rescan' ? 'is not in quarantine, or was scanned' : 'is not in quarantine'
  return {
    json: {
      ...{ action, dry_run: isDryRun, count: messages.length },
      messages: messages.map(({ id, organization_id, rcpt_to }) => ({ id, organization_id, rcpt_to })),
      not_in_quarantine: notFound,
    },
    text: [
      ...messages.map(message => `${message.id}  ${message.rcpt_to}`),
      `${verb} ${messages.length} ${messages.length === 1 ? 'message' : 'messages'}.`,
      ...notFound.map(id => `${id} ${missing}.`),
    ].join('\n'),
  }
}
