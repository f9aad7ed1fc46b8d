import { t } from 'elysia'
import { dateTimeSchema, nullable } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { describeFile, fileResponse, streamText } from '../../api/file-response.ts'
import { cursorRefusals, cutPage, limitParamSchema, pageSize, readIdCursor, readInstant } from '../../api/page.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import type { Clock } from '../../base/clock.ts'
import { csvLine, formulaSafe } from '../../base/csv.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { recordAuditEntry } from './audit.ts'
import { type AuditEntryJson, toJsonAuditEntry } from './entry-json.ts'
import { sessionActor } from './session-actor.ts'
import { type AuditFilter, selectAuditEntries } from './table.ts'

const filterParams = {
  actor: t.Optional(t.String({ maxLength: 120 })),
  action: t.Optional(t.String({ maxLength: 64 })),
  subject: t.Optional(t.String({ maxLength: 320 })),
  organization_id: t.Optional(t.String()),
  since: t.Optional(t.String({ description: 'ISO 8601.' })),
}

const instanceAuditSchema = t.Object({
  data: t.Array(
    t.Object(
      {
        id: t.String(),
        at: dateTimeSchema,
        actor: t.String({
          description: 'The user of the operating system, the email of a person, or the id of an API key.',
        }),
        ip: nullable(t.String({ description: 'null: a command.' })),
        action: t.String(),
        subject: t.String(),
        organization_id: nullable(t.String()),
        detail: t.Record(t.String(), t.Unknown()),
      },
      { title: 'InstanceAuditEntry' },
    ),
  ),
  next_cursor: nullable(t.String()),
})

/** The audit log of the whole instance, for operators. */
export function instanceAuditRoutes({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
  return sessionApi('instance audit')
    .get(
      '/app/api/instance/audit',
      async ({ query: { cursor, limit, ...fields } }) => {
        const size = pageSize(limit)
        const before = readIdCursor('aud', cursor) ?? undefined
        const rows = await selectAuditEntries(db, readFilter(fields), { before, limit: size + 1 })
        const { page, next_cursor } = cutPage(rows, size, ({ id }) => [id])
        return { data: page.map(toJsonAuditEntry), next_cursor }
      },
      {
        operator: 'session',
        query: t.Object(
          { ...filterParams, limit: limitParamSchema, cursor: t.Optional(t.String()) },
          { additionalProperties: false },
        ),
        response: instanceAuditSchema,
        detail: describeRoute('listInstanceAudit', 'List what was done, by whom and from where', cursorRefusals),
      },
    )
    .get(
      '/app/api/instance/audit.csv',
      async ({ query, session, context }) => {
        const filter = readFilter(query)
        const entry = { action: 'audit.export', subject: 'instance', detail: { ...query } }
        await recordAuditEntry(db, sessionActor(session, context, clock), entry)
        return fileResponse({
          filename: 'audit.csv',
          size: null,
          contentType: 'text/csv; charset=utf-8',
          bytes: streamText(csvOf(db, filter)),
        })
      },
      {
        operator: 'confirmed',
        query: t.Object(filterParams, { additionalProperties: false }),
        detail: {
          ...describeRoute('exportInstanceAudit', 'Export the audit log as CSV'),
          ...describeFile('text/csv; charset=utf-8'),
        },
      },
    )
}

interface AuditFilterFields {
  readonly actor?: string
  readonly action?: string
  readonly subject?: string
  readonly organization_id?: string
  readonly since?: string
}

/** @throws Refusal `invalid_request` */
function readFilter({ organization_id, since, ...rest }: AuditFilterFields): AuditFilter {
  if (organization_id !== undefined && !isId('org', organization_id))
    throw refuse('invalid_request', {
      message: `${organization_id} is no id of an organization.`,
      param: 'organization_id',
    })
  return {
    ...rest,
    ...(organization_id !== undefined && { organizationId: organization_id }),
    ...(since !== undefined && { since: readInstant(since, 'since') }),
  }
}

const columns = ['id', 'at', 'actor', 'ip', 'action', 'subject', 'organization_id', 'detail'] as const
const rowsPerBatch = 1000

/** The newest first, read in batches while they are sent. */
async function* csvOf(db: Db, filter: AuditFilter): AsyncGenerator<string> {
  yield csvLine(columns)
  for (let before: Id<'aud'> | undefined; ; ) {
    const rows = await selectAuditEntries(db, filter, { before, limit: rowsPerBatch })
    yield rows.map(row => csvLine(cellsOf(toJsonAuditEntry(row)))).join('')
    before = rows.at(-1)?.id
    if (rows.length < rowsPerBatch) return
  }
}

function cellsOf(entry: AuditEntryJson): readonly string[] {
  return columns.map(column => formulaSafe(column === 'detail' ? JSON.stringify(entry.detail) : (entry[column] ?? '')))
}
