import { type AuditFilter, type AuditRow, selectAuditEntries } from '../accounts/audit/table.ts'
import { toIso } from '../base/clock.ts'
import { fromJson } from '../base/database/schema.ts'
import { UsageError } from '../base/operator-error.ts'
import { type Command, type CommandOutput, type Environment, readArguments, withDatabase } from './command.ts'
import { readCount, readTime } from './option-values.ts'

export const auditCommand: Command = {
  usage: `./mailroom audit list [--subject ID] [--action ACTION] [--since TIME] [--limit N] [--json]

list shows what operators did with these commands, newest first: when, which user of the operating system, what, and to
  what. Every command that changes something of an organization, its mail or its keys leaves a record, and so does the
  export of messages.
  --subject  what it was done to: an id (msg_, eml_, key_, org_), or what the command was told to take
             (domain:example.com, sha256:…)
  --action   such as quarantine.release, queue.hold, key.disable, messages.export
  --since    from this time on, such as 2027-01-31T00:00:00Z
  --limit    at most so many; 100 unless you say otherwise
The database is the one of MAILROOM_DATABASE_URL.`,

  run([verb, ...args], env) {
    if (verb === 'list') return list(args, env)
    throw new UsageError(`audit takes list, not "${verb ?? ''}"`)
  },
}

async function list(args: readonly string[], env: Environment): Promise<CommandOutput> {
  const { options } = readArguments(args, { options: ['subject', 'action', 'since', 'limit'] })
  const { subject, action } = options
  const since = readTime(options, 'since')
  const filter: AuditFilter = {
    ...(subject !== undefined && { subject }),
    ...(action !== undefined && { action }),
    ...(since !== undefined && { since }),
  }
  const limit = readCount(options, 'limit', 100)
  const rows = (await withDatabase(env, db => selectAuditEntries(db, filter, { limit }))).map(toJsonAuditEntry)
  return { json: rows, text: rows.length > 0 ? rows.map(line).join('\n') : 'There is no record.' }
}

function toJsonAuditEntry({ id, at, actor, action, subject, detail }: AuditRow) {
  return { id, at: toIso(at), actor, action, subject, detail: fromJson(detail) }
}

function line({ at, actor, action, subject, detail }: ReturnType<typeof toJsonAuditEntry>): string {
  return `${at}  ${actor}  ${action}  ${subject}  ${JSON.stringify(detail)}`
}
