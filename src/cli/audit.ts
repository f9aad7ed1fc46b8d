import { type AuditFilter, type AuditRow, selectAuditEntries } from '../accounts/audit/table.ts'
import { toIso } from '../base/clock.ts'
import { fromJson } from '../base/database/schema.ts'
import { defineCommand, defineGroup } from './command.ts'
import { databaseNote, withDatabase } from './database.ts'
import { limit, time } from './values.ts'

const list = defineCommand({
  name: 'audit list',
  summary: 'List what operators did, when, and to what',
  details: `The newest comes first. Every command that changes something of an organization, its mail or its keys writes an
audit entry with the user of the operating system who ran it; so does the export of messages.`,
  options: {
    subject: {
      placeholder: 'ID',
      description: 'what was changed: an id (msg_, eml_, key_, org_), or a selection (domain:example.com, sha256:…)',
    },
    action: {
      placeholder: 'ACTION',
      description: 'such as quarantine.release, queue.hold, key.disable, messages.export',
    },
    since: { ...time, description: 'from this time on, such as 2027-01-31T00:00:00Z' },
    limit,
  },
  async run({ subject, action, since, limit }, { env }) {
    const filter: AuditFilter = {
      ...(subject !== undefined && { subject }),
      ...(action !== undefined && { action }),
      ...(since !== undefined && { since }),
    }
    const rows = await withDatabase(env, db => selectAuditEntries(db, filter, { limit }))
    const entries = rows.map(toJsonAuditEntry)
    return { json: entries, text: entries.map(describe).join('\n') || 'There are no audit entries.' }
  },
})

export const auditCommand = defineGroup('audit', databaseNote, [list])

function toJsonAuditEntry({ id, at, actor, action, subject, detail }: AuditRow) {
  return { id, at: toIso(at), actor, action, subject, detail: fromJson(detail) }
}

function describe({ at, actor, action, subject, detail }: ReturnType<typeof toJsonAuditEntry>): string {
  return `${at}  ${actor}  ${action}  ${subject}  ${JSON.stringify(detail)}`
}
