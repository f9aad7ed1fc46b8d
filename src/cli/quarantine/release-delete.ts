import type { Id } from '../../base/ids.ts'
import { UsageError } from '../../base/operator-error.ts'
import { emptyQuarantine, type QuarantinedMessage } from '../../inbox/quarantine/quarantine.ts'
import type { QuarantineFilter } from '../../inbox/quarantine/table.ts'
import { type CommandOutput, defineCommand, type Environment } from '../command.ts'
import { currentOperator } from '../current-operator.ts'
import { withDatabase } from '../database.ts'
import { openProgressLine } from '../progress-line.ts'
import { requireOrganization } from '../require-organization.ts'
import { dryRun, messageId } from '../values.ts'
import { filterOptions, quarantineFilter } from './filter.ts'

const maxMessages = 1000

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
    releaseOrDelete('release', requireSelection(org, sha256, message), isDryRun, env),
})

export const remove = defineCommand({
  name: 'quarantine delete',
  summary: 'Delete messages in quarantine for good',
  details: 'Give messages by id, or --sha256.',
  arguments: messages,
  options,
  run: ({ message, org, sha256, 'dry-run': isDryRun }, { env }) =>
    releaseOrDelete('delete', requireSelection(org, sha256, message), isDryRun, env),
})

/** @throws UsageError */
function requireSelection(
  org: Id<'org'> | undefined,
  sha256: Buffer | undefined,
  ids: readonly Id<'msg'>[],
): QuarantineFilter {
  if (ids.length > 0 === (sha256 !== undefined)) throw new UsageError('say which ones: messages by id, or --sha256')
  if (ids.length > maxMessages) throw new UsageError(`at most ${maxMessages} messages at once`)
  return quarantineFilter({ org, sha256 }, ids)
}

const pastTense = {
  release: { done: 'Released', dryRun: 'Would release' },
  delete: { done: 'Deleted', dryRun: 'Would delete' },
} as const

async function releaseOrDelete(
  action: 'release' | 'delete',
  filter: QuarantineFilter,
  isDryRun: boolean,
  env: Environment,
): Promise<CommandOutput> {
  const messages: Pick<QuarantinedMessage, 'id' | 'organization_id' | 'rcpt_to'>[] = []
  const progress = openProgressLine('messages')
  await withDatabase(env, async db => {
    if (filter.organizationId !== undefined) await requireOrganization(db, filter.organizationId)
    for await (const message of emptyQuarantine(db, filter, action, currentOperator(env), isDryRun)) {
      const { id, organization_id, rcpt_to } = message
      messages.push({ id, organization_id, rcpt_to })
      progress.report(messages.length)
    }
  }).finally(() => progress.end())
  const found = new Set<string>(messages.map(message => message.id))
  const notFound = (filter.ids ?? []).filter(id => !found.has(id))
  const verb = pastTense[action][isDryRun ? 'dryRun' : 'done']
  return {
    json: { action, dry_run: isDryRun, count: messages.length, messages, not_in_quarantine: notFound },
    text: [
      ...messages.map(message => `${message.id}  ${message.rcpt_to}`),
      `${verb} ${messages.length} ${messages.length === 1 ? 'message' : 'messages'}.`,
      ...notFound.map(id => `${id} is not in quarantine.`),
    ].join('\n'),
  }
}
