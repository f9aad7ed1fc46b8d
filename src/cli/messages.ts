import { recordAuditEntry } from '../accounts/audit/audit.ts'
import { type Instant, systemClock, toIso } from '../base/clock.ts'
import { readConfig } from '../base/config/config.ts'
import type { Db } from '../base/database/database.ts'
import { isId } from '../base/ids.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { type ExportOptions, exportMessages } from '../inbox/export/export.ts'
import { type ExportScope, scopeExists, selectMailboxesByAddress } from '../inbox/export/table.ts'
import { canonicalDomain } from '../mail/address.ts'
import { mysqlBlobs } from '../ports/blobs/mysql.ts'
import {
  type Command,
  type CommandOutput,
  type Environment,
  type ParsedArguments,
  readArguments,
  withDatabase,
} from './command.ts'
import { openExportOutput } from './export-output.ts'
import { readBrandId, readOrganizationId } from './ids.ts'
import { currentOperator } from './operator.ts'
import { readOneOf, readTime } from './option-values.ts'
import { openProgressLine } from './progress-line.ts'

const folders = ['inbox', 'archive', 'spam', 'trash', 'quarantine'] as const
const usualFolders = folders.filter(folder => folder !== 'quarantine')

export const messagesCommand: Command = {
  usage: `./mailroom messages export --mailbox ID|ADDRESS | --brand ID | --org ID [--folder A,B] [--since TIME] [--infected]
    [--output FILE] [--json]

export writes received messages as a mailbox file of the format mboxrd (RFC 4155, with ">" before lines that begin with
  "From " after any number of ">"), to standard output or to a new file: folder by folder, the oldest first, each as it
  was delivered (Return-Path, Received and Authentication-Results before what came), with Delivered-To, X-Mailroom-Id,
  X-Mailroom-Folder and Status before that.
    ./mailroom messages export --mailbox hello@example.com > hello.mbox
  --folder    of ${folders.join(', ')}; without it all but quarantine
  --since     received at this time or later, such as 2027-01-31T00:00:00Z
  --infected  also what the scanner found infected or could not scan; without it these are left out, and counted
  --output    the file; it is made, for its owner alone, and one that is there is not overwritten
How many there were is said on standard error, or with --output as the result. What arrives or is moved meanwhile may be in
it or not. An export leaves a record: ./mailroom audit list --action messages.export
The database is the one of MAILROOM_DATABASE_URL; the name in the headers is that of MAILROOM_HOSTNAME.`,

  run([verb, ...args], env, form = 'text') {
    if (verb === 'export') return exportFile(args, env, form)
    throw new UsageError(`messages takes export, not "${verb ?? ''}"`)
  },
}

async function exportFile(
  args: readonly string[],
  env: Environment,
  form: 'text' | 'json',
): Promise<CommandOutput | null> {
  const called = readArguments(args, {
    options: ['mailbox', 'brand', 'org', 'since', 'output'],
    lists: ['folder'],
    flags: ['infected'],
  })
  const { output } = called.options
  const { hostname } = readConfig({ ...env, MAILROOM_ROLES: 'http' })
  const tally = { message: 0, unsafe: 0, removed: 0 }
  const progress = openProgressLine('messages')
  await withDatabase(env, async db => {
    const wanted = { ...readWanted(called), scope: await readWhose(db, called) }
    const deed = { action: 'messages.export', subject: wanted.scope.id, detail: deedOf(wanted) }
    await recordAuditEntry(db, currentOperator(env), deed)
    const sink = openExportOutput(output)
    for await (const exportMessage of exportMessages({ db, blobs: mysqlBlobs(db, systemClock), hostname }, wanted)) {
      if (exportMessage.kind === 'message') for await (const bytes of exportMessage.bytes) await sink.write(bytes)
      tally[exportMessage.kind]++
      progress.report(tally.message + tally.unsafe + tally.removed)
    }
    await sink.end()
  }).finally(() => progress.end())
  const told = describeExport(tally, output)
  if (output !== undefined) return told
  await Bun.write(Bun.stderr, `${form === 'json' ? JSON.stringify(told.json) : told.text}\n`)
  return null
}

function describeExport(
  { message, unsafe, removed }: Record<'message' | 'unsafe' | 'removed', number>,
  output?: string,
): CommandOutput {
  return {
    json: { file: output ?? null, exported: message, left_out: { unsafe, removed } },
    text: [
      `Exported ${message} ${message === 1 ? 'message' : 'messages'}.`,
      ...(unsafe > 0 ? [`Left out ${unsafe} that are infected or were not scanned; --infected takes them.`] : []),
      ...(removed > 0 ? [`Left out ${removed} scope bytes retention has removed.`] : []),
    ].join('\n'),
  }
}

function readWanted({ options, lists, flags }: ParsedArguments): Omit<ExportOptions, 'scope'> {
  const named = lists['folder']?.map(value => readOneOf(folders, value, 'folder'))
  return {
    folders: named ? [...new Set(named)] : usualFolders,
    since: readTime(options, 'since') ?? ('1970-01-01 00:00:00.000000' as Instant),
    infected: flags.has('infected'),
  }
}

function deedOf({ scope, folders, since, infected }: ExportOptions) {
  return { of: scope.kind, folders, since: toIso(since), infected }
}

/** @throws UsageError, CommandError */
async function readWhose(db: Db, { options }: ParsedArguments): Promise<ExportScope> {
  const { mailbox, brand, org } = options
  if ([mailbox, brand, org].filter(each => each !== undefined).length !== 1)
    throw new UsageError('say scope: one of --mailbox, --brand and --org')
  if (mailbox !== undefined && !isId('mbx', mailbox)) return { kind: 'mailbox', id: await mailboxNamed(db, mailbox) }
  const scope = namedById({ mailbox, brand, org })
  if (!(await scopeExists(db, scope))) throw new CommandError(`There is no ${scope.kind} ${scope.id}.`)
  return scope
}

function namedById({ mailbox, brand, org }: ParsedArguments['options']): ExportScope {
  if (mailbox !== undefined && isId('mbx', mailbox)) return { kind: 'mailbox', id: mailbox }
  return brand === undefined
    ? { kind: 'organization', id: readOrganizationId(org) }
    : { kind: 'brand', id: readBrandId(brand) }
}

async function mailboxNamed(db: Db, address: string) {
  const at = address.lastIndexOf('@')
  const domain = canonicalDomain(address.slice(at + 1))
  if (at < 0 || domain === undefined) throw new UsageError(`"${address}" is neither the id of a mailbox nor an address`)
  const found = await selectMailboxesByAddress(db, address.slice(0, at).toLowerCase(), domain)
  const [first] = found
  if (!first) throw new CommandError(`There is no mailbox ${address}.`)
  if (found.length > 1)
    throw new UsageError(`several organizations have ${address}; say which: ${found.map(each => each.id).join(', ')}`)
  return first.id
}
