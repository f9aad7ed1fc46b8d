import { recordAuditEntry } from '../accounts/audit/audit.ts'
import { type Instant, systemClock, toIso } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import { type Id, isId } from '../base/ids.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { exportMessages } from '../inbox/export/export.ts'
import { type ExportScope, scopeExists, selectMailboxesByAddress } from '../inbox/export/table.ts'
import { canonicalDomain } from '../mail/address.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import { type CommandOutput, defineCommand, defineGroup } from './command.ts'
import { currentOperator } from './current-operator.ts'
import { databaseNote, readCommandConfig, withDatabase } from './database.ts'
import { openExportOutput } from './export-output.ts'
import { openProgressLine } from './progress-line.ts'
import { brandId, choice, organizationId, time } from './values.ts'

const folders = ['inbox', 'archive', 'spam', 'trash', 'quarantine'] as const
const defaultFolders = folders.filter(folder => folder !== 'quarantine')
const beginning = '1970-01-01 00:00:00.000000' as Instant

const exportCommand = defineCommand({
  name: 'messages export',
  summary: 'Export received messages as a mailbox file',
  details: `The file has the format mboxrd (RFC 4155, with ">" before each line that begins with "From " after any number
of ">"), folder by folder, the oldest message first. Each message is as it was delivered: Delivered-To, X-Mailroom-Id,
X-Mailroom-Folder and Status, then Return-Path, Received and Authentication-Results, then the bytes as they were received.

  ./mailroom messages export --mailbox hello@example.com > hello.mbox

Give one of --mailbox, --brand and --org. The counts are printed on standard error, or with --output as the result. Messages
that arrive or are moved during the export may or may not be in it. An export writes an audit entry:
./mailroom audit list --action messages.export. MAILROOM_HOSTNAME is the name of the server in the header fields.`,
  options: {
    mailbox: { placeholder: 'ID|ADDRESS', description: 'the messages of this mailbox' },
    brand: { ...brandId, description: 'the messages of this brand' },
    org: { ...organizationId, description: 'the messages of this organization' },
    folder: {
      ...choice(folders),
      placeholder: 'A,B',
      description: `of ${folders.join(', ')}; without it all but quarantine`,
      repeatable: true,
    },
    since: { ...time, description: 'received at this time or later, such as 2027-01-31T00:00:00Z' },
    infected: {
      description: 'include messages that are infected or were not scanned; without it they are left out and counted',
    },
    output: {
      placeholder: 'FILE',
      description: 'write to this new file, readable by its owner only; an existing file is not overwritten',
    },
  },
  async run({ mailbox, brand, org, folder, since = beginning, infected, output }, { env, format }) {
    const { hostname } = readCommandConfig(env)
    const folders = folder ? [...new Set(folder)] : defaultFolders
    const tally = { message: 0, unsafe: 0, removed: 0 }
    const progress = openProgressLine('messages')
    await withDatabase(env, async db => {
      const scope = await requireScope(db, mailbox, brand, org)
      const detail = { of: scope.kind, folders, since: toIso(since), infected }
      await recordAuditEntry(db, currentOperator(env), { action: 'messages.export', subject: scope.id, detail })
      const file = openExportOutput(output)
      const deps = { db, blobs: mysqlBlobs(db, systemClock), hostname }
      for await (const message of exportMessages(deps, { scope, folders, since, infected })) {
        if (message.kind === 'message') for await (const bytes of message.bytes) await file.write(bytes)
        tally[message.kind]++
        progress.report(tally.message + tally.unsafe + tally.removed)
      }
      await file.end()
    }).finally(() => progress.end())
    const result = describeExport(tally, output)
    if (output !== undefined) return result
    await Bun.write(Bun.stderr, `${format === 'json' ? JSON.stringify(result.json) : result.text}\n`)
    return null
  },
})

export const messagesCommand = defineGroup('messages', databaseNote, [exportCommand])

function describeExport(
  { message, unsafe, removed }: Record<'message' | 'unsafe' | 'removed', number>,
  file?: string,
): CommandOutput {
  return {
    json: { file: file ?? null, exported: message, left_out: { unsafe, removed } },
    text: [
      `Exported ${message} ${message === 1 ? 'message' : 'messages'}.`,
      ...(unsafe > 0 ? [`Left out ${unsafe} that are infected or were not scanned; --infected includes them.`] : []),
      ...(removed > 0 ? [`Left out ${removed} whose content retention has deleted.`] : []),
    ].join('\n'),
  }
}

/** @throws UsageError unless exactly one is given, CommandError when there is no such thing */
async function requireScope(
  db: Db,
  mailbox: string | undefined,
  brandId: Id<'brd'> | undefined,
  organizationId: Id<'org'> | undefined,
): Promise<ExportScope> {
  const scopes: readonly ExportScope[] = [
    ...(mailbox === undefined ? [] : [{ kind: 'mailbox' as const, id: await mailboxIdOf(db, mailbox) }]),
    ...(brandId === undefined ? [] : [{ kind: 'brand' as const, id: brandId }]),
    ...(organizationId === undefined ? [] : [{ kind: 'organization' as const, id: organizationId }]),
  ]
  const [scope, ...others] = scopes
  if (!scope || others.length > 0) throw new UsageError('give one of --mailbox, --brand and --org')
  if (!(await scopeExists(db, scope))) throw new CommandError(`There is no ${scope.kind} ${scope.id}.`)
  return scope
}

async function mailboxIdOf(db: Db, address: string): Promise<Id<'mbx'>> {
  if (isId('mbx', address)) return address
  const at = address.lastIndexOf('@')
  const domain = canonicalDomain(address.slice(at + 1))
  if (at < 0 || domain === undefined) throw new UsageError(`"${address}" is neither the id of a mailbox nor an address`)
  const mailboxes = await selectMailboxesByAddress(db, address.slice(0, at).toLowerCase(), domain)
  const [first] = mailboxes
  if (!first) throw new CommandError(`There is no mailbox ${address}.`)
  if (mailboxes.length > 1)
    throw new UsageError(
      `several organizations have ${address}; give the id of one: ${mailboxes.map(mailbox => mailbox.id).join(', ')}`,
    )
  return first.id
}
