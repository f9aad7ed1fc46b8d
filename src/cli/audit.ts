import { type AuditEntryJson, toJsonAuditEntry } from '../accounts/audit/entry-json.ts'
import { type AuditFilter, selectAuditEntries } from '../accounts/audit/table.ts'
import { defineCommand, defineGroup } from './command.ts'
import { databaseNote, withDatabase } from './database.ts'
import { limit, organizationId, time } from './values.ts'

const list = defineCommand({
  name: 'audit list',
  summary: 'List what was done by people and commands, and from where',
  details: `The newest comes first. Every command that changes something of an organization, its mail or its keys writes an
audit entry with the user of the operating system who ran it; so does the export of messages. In the dashboard, every
sign-in, failed sign-in and change of access writes one, with the person's email and the address of their client.`,
  options: {
    org: { ...organizationId, description: 'only what was done in this organization' },
    subject: {
      placeholder: 'ID',
      description: 'what was changed: an id (msg_, eml_, key_, org_), or a selection (domain:example.com, sha256:…)',
    },
    action: {
      placeholder: 'ACTION',
      description: 'such as quarantine.release, queue.hold, key.disable, member.link',
    },
    since: { ...time, description: 'from this time on, such as 2027-01-31T00:00:00Z' },
    limit,
  },
  async run({ org, subject, action, since, limit }, { env }) {
    const filter: AuditFilter = {
      ...(org !== undefined && { organizationId: org }),
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

function describe({ at, actor, ip, action, subject, organization_id, detail }: AuditEntryJson) {
  const who = ip === null ? actor : `${actor} (${ip})`
  const where = organization_id === null || organization_id === subject ? '' : `  in ${organization_id}`
  return `${at}  ${who}  ${action}  ${subject}${where}  ${JSON.stringify(detail)}`
}
