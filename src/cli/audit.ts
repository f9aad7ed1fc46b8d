import { type AuditFilter, type AuditRow, selectAudit } from '../accounts/audit/table.ts'
import { toIso } from '../base/clock.ts'
import { fromJson } from '../base/database/schema.ts'
import { UsageTrouble } from '../base/operator-error.ts'
import { type Command, type Environment, onDatabase, readArgs, type Told } from './command.ts'
import { readCount, readTime } from './values.ts'

export const audit: Command = {
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
    throw new UsageTrouble(`audit takes list, not "${verb ?? ''}"`)
  },
}

async function list(args: readonly string[], env: Environment): Promise<Told> {
  const { options } = readArgs(args, { options: ['subject', 'action', 'since', 'limit'] })
  const { subject, action } = options
  const since = readTime(options, 'since')
  const filter: AuditFilter = {
    ...(subject !== undefined && { subject }),
    ...(action !== undefined && { action }),
    ...(since !== undefined && { since }),
  }
  const limit = readCount(options, 'limit', 100)
  const rows = (await onDatabase(env, db => selectAudit(db, filter, { limit }))).map(shape)
  return { json: rows, text: rows.length > 0 ? rows.map(line).join('\n') : 'There is no record.' }
}

function shape({ id, at, actor, action, subject, detail }: AuditRow) {
  return { id, at: toIso(at), actor, action, subject, detail: fromJson(detail) }
}

function line({ at, actor, action, subject, detail }: ReturnType<typeof shape>): string {
  return `${at}  ${actor}  ${action}  ${subject}  ${JSON.stringify(detail)}`
}
