import { type Static, t } from 'elysia'
import { dateTimeSchema, nullable } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { cursorRefusals, cutPage, limitParamSchema, pageSize, readIdCursor } from '../../api/page.ts'
import type { SessionMember } from '../../api/session/session.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import { managerRefusals, requireManager } from '../members/manager.ts'
import { type AuditRow, selectAuditEntries } from './table.ts'

const auditEntrySchema = t.Object(
  {
    id: t.String(),
    at: dateTimeSchema,
    actor: t.String({ description: 'The email of a person, or the id of an API key.' }),
    action: t.String(),
    subject: t.String(),
    detail: t.Record(t.String(), t.Unknown()),
    ip: nullable(t.String()),
  },
  { title: 'AuditEntry' },
)

/** The organization's own audit log, in the dashboard, for owners and admins. */
export function sessionAuditRoutes({ db }: { readonly db: Db }) {
  return sessionApi('session-audit').get('/app/api/audit', ({ member, query }) => listAuditEntries(db, member, query), {
    detail: describeRoute('listAuditEntries', 'List what was done in the organization', [
      ...managerRefusals,
      ...cursorRefusals,
    ]),
    member: 'session',
    query: t.Object({
      limit: limitParamSchema,
      cursor: t.Optional(t.String()),
      action: t.Optional(t.String({ maxLength: 60 })),
    }),
    response: t.Object({ data: t.Array(auditEntrySchema), next_cursor: nullable(t.String()) }),
  })
}

async function listAuditEntries(
  db: Db,
  member: SessionMember,
  query: { readonly limit?: string; readonly cursor?: string; readonly action?: string },
) {
  requireManager(member)
  const limit = pageSize(query.limit)
  const filter = { organizationId: member.organizationId, ...(query.action !== undefined && { action: query.action }) }
  const before = readIdCursor('aud', query.cursor) ?? undefined
  const rows = await selectAuditEntries(db, filter, { before, limit: limit + 1 })
  const { page, next_cursor } = cutPage(rows, limit, ({ id }) => [id])
  return { data: page.map(toJsonAuditEntry), next_cursor }
}

function toJsonAuditEntry(row: AuditRow): Static<typeof auditEntrySchema> {
  const { id, actor, action, subject, ip } = row
  return { id, at: toIso(row.at), actor, action, subject, detail: { ...fromJson(row.detail) }, ip }
}
