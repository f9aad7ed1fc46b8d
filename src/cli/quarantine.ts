import { isId } from '../base/ids.ts'
import { UsageError } from '../base/operator-error.ts'
import { emptyQuarantine, listQuarantine, type QuarantinedMessage } from '../inbox/quarantine/quarantine.ts'
import type { QuarantineFilter } from '../inbox/quarantine/table.ts'
import {
  type Command,
  type CommandOutput,
  type Environment,
  type ParsedArguments,
  readArguments,
  withDatabase,
} from './command.ts'
import { readOrganizationId, requireOrganization } from './ids.ts'
import { currentOperator } from './operator.ts'
import { readCount, readOneOf } from './option-values.ts'
import { openProgressLine } from './progress-line.ts'
import { describeQuarantined, toJsonQuarantined } from './quarantine/format.ts'
import { runShow } from './quarantine/show.ts'

export const quarantineCommand: Command = {
  usage: `./mailroom quarantine list [--org ID] [--reason infected|unscanned] [--sha256 HASH] [--limit N] [--json]
./mailroom quarantine show MESSAGE [--json]
./mailroom quarantine release MESSAGE... | --sha256 HASH [--org ID] [--dry-run] [--json]
./mailroom quarantine delete  MESSAGE... | --sha256 HASH [--org ID] [--dry-run] [--json]

In quarantine is what the scanner found infected, and what it could not scan.
list shows it, the newest first: the hash of the message and of each attachment, and what the scanner said of them.
show tells all that is known of one message, with its header, its checks, and what operators did with it.
release moves messages to the inbox of their mailbox, where they are read, downloaded and forwarded like any other. What
  the scanner said stays to be seen (scan, scan_signature), and folder_reason is "released"; moved back to quarantine it is
  refused again. Of a message that could not be scanned the scans go on, and put it back if they find something.
delete takes messages out of the database for good.
--sha256  the SHA-256 of an attachment, or of the whole message, in hexadecimal: every message in quarantine that holds it
--org     only those of one organization
--dry-run changes nothing, and says which they would be
Each message that is released or deleted leaves a record: ./mailroom audit list --subject MESSAGE
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    if (verb === 'list') return list(args, env)
    if (verb === 'show') return runShow(args, env)
    if (verb === 'release' || verb === 'delete') return releaseOrDelete(verb, args, env)
    throw new UsageError(`quarantine takes list, show, release or delete, not "${verb ?? ''}"`)
  },
}

async function list(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const called = readArguments(args, { options: ['org', 'reason', 'sha256', 'limit'] })
  const { reason } = called.options
  const filter: QuarantineFilter = {
    ...readFilter(called),
    ...(reason !== undefined && { reason: readOneOf(['infected', 'unscanned'], reason, 'reason') }),
  }
  const limit = readCount(called.options, 'limit', 100)
  const rows = await withDatabase(env, async db => {
    if (filter.organizationId !== undefined) await requireOrganization(db, filter.organizationId)
    return listQuarantine(db, filter, limit)
  })
  return {
    json: rows.map(toJsonQuarantined),
    text: rows.map(describeQuarantined).join('\n') || 'Nothing is in quarantine.',
  }
}

function readFilter({ options, words }: ParsedArguments): QuarantineFilter {
  const { org, sha256 } = options
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
    throw new UsageError(`--sha256: "${sha256}" is not a SHA-256 in hexadecimal`)
  const ids = words.map(text => {
    if (!isId('msg', text)) throw new UsageError(`"${text}" is not the id of a message`)
    return text
  })
  return {
    ...(org !== undefined && { organizationId: readOrganizationId(org) }),
    ...(sha256 !== undefined && { sha256: Buffer.from(sha256, 'hex') }),
    ...(ids.length > 0 && { ids }),
  }
}

const maxMessages = 1000

async function releaseOrDelete(
  kind: 'release' | 'delete',
  args: readonly string[],
  env: Environment,
): Promise<CommandOutput> {
  const called = readArguments(args, { rest: true, options: ['org', 'sha256'], flags: ['dry-run'] })
  const filter = readFilter(called)
  if ((filter.ids === undefined) === (filter.sha256 === undefined))
    throw new UsageError('say which ones: messages by id, or --sha256')
  if ((filter.ids?.length ?? 0) > maxMessages) throw new UsageError(`at most ${maxMessages} messages at once`)
  const isDry = called.flags.has('dry-run')
  const taken: Pick<QuarantinedMessage, 'id' | 'organization_id' | 'rcpt_to'>[] = []
  const progress = openProgressLine('messages')
  await withDatabase(env, async db => {
    if (filter.organizationId !== undefined) await requireOrganization(db, filter.organizationId)
    for await (const { id, organization_id, rcpt_to } of emptyQuarantine(
      db,
      filter,
      kind,
      currentOperator(env),
      isDry,
    )) {
      taken.push({ id, organization_id, rcpt_to })
      progress.report(taken.length)
    }
  }).finally(() => progress.end())
  const found = new Set<string>(taken.map(pick => pick.id))
  const notThere = (filter.ids ?? []).filter(id => !found.has(id))
  const did = kind === 'release' ? (isDry ? 'Would release' : 'Released') : isDry ? 'Would delete' : 'Deleted'
  return {
    json: { action: kind, dry_run: isDry, count: taken.length, messages: taken, not_in_quarantine: notThere },
    text: [
      ...taken.map(pick => `${pick.id}  ${pick.rcpt_to}`),
      `${did} ${taken.length} ${taken.length === 1 ? 'message' : 'messages'}.`,
      ...notThere.map(id => `${id} is not in quarantine.`),
    ].join('\n'),
  }
}
