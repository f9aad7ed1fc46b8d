import { t } from 'elysia'
import { sessionActor } from '../../accounts/audit/session-actor.ts'
import { selectAuditEntries } from '../../accounts/audit/table.ts'
import { requireOrganization } from '../../accounts/organizations/organizations.ts'
import { idParamsSchema, oneOf } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import {
  cursorRefusals,
  cutPage,
  decodeCursor,
  encodeCursor,
  invalidCursor,
  limitParamSchema,
  pageSize,
  readIdCursor,
} from '../../api/page.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import { type Clock, fromIso, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import { changeQuarantined, findQuarantined, listQuarantine, readQuarantinedHeader } from './quarantine.ts'
import {
  quarantineActionResultSchema,
  quarantineActionSchema,
  quarantineDetailSchema,
  quarantinePageSchema,
  toJsonQuarantined,
} from './schema.ts'
import type { QuarantineFilter, QuarantineRange } from './table.ts'

export interface QuarantineRoutesDeps {
  readonly db: Db
  readonly clock: Clock
  readonly blobs: BlobStore
}

/** A request changes or counts at most so many messages. */
const messagesPerRequest = 1000
const shownEntries = 100

const filterFields = {
  organization_id: t.Optional(t.String()),
  sha256: quarantineActionSchema.properties.sha256,
}

/** The quarantine of all organizations, for operators. Nothing in it is offered for download. */
export function quarantineSessionRoutes({ db, clock, blobs }: QuarantineRoutesDeps) {
  return sessionApi('instance quarantine')
    .get(
      '/app/api/instance/quarantine',
      async ({ query: { cursor, limit, reason, ...fields } }) => {
        const size = pageSize(limit)
        const olderThan = readOlderThan(cursor)
        const filter = { ...(await readFilter(db, fields)), ...(reason !== undefined && { reason }) }
        const rows = await listQuarantine(db, filter, { ...(olderThan && { olderThan }), limit: size + 1 })
        const { page, next_cursor } = cutPage(rows, size, last => [toIso(last.received_at), last.id])
        return { data: page.map(toJsonQuarantined), next_cursor }
      },
      {
        operator: 'session',
        query: t.Object(
          {
            ...filterFields,
            reason: t.Optional(oneOf(['infected', 'unscanned'])),
            limit: limitParamSchema,
            cursor: t.Optional(t.String()),
          },
          { additionalProperties: false },
        ),
        response: quarantinePageSchema,
        detail: describeRoute('listQuarantine', 'List the messages in quarantine, the newest first', [
          ...cursorRefusals,
          'not_found',
        ]),
      },
    )
    .get(
      '/app/api/instance/quarantine/:id',
      async ({ params: { id } }) => {
        const message = isId('msg', id) ? await findQuarantined(db, id) : undefined
        if (!message) throw refuse('not_found', { message: `There is no message ${id}.` })
        const entries = await selectAuditEntries(db, { subject: id }, { limit: shownEntries })
        return {
          ...toJsonQuarantined(message),
          header: await readQuarantinedHeader(blobs, message),
          audit: entries.map(({ at, actor, action }) => ({ at: toIso(at), actor, action })),
        }
      },
      {
        operator: 'session',
        params: idParamsSchema,
        response: quarantineDetailSchema,
        detail: describeRoute('getQuarantined', 'Get all that is known of a message in quarantine', ['not_found']),
      },
    )
    .post(
      '/app/api/instance/quarantine/:action',
      async ({ params: { action }, body, session, context }) => {
        const isDryRun = body.dry_run ?? false
        const from = readIdCursor('msg', body.cursor)
        const { messages, notFound, next } = await changeQuarantined(db, {
          filter: await readSelection(db, body),
          action,
          operator: sessionActor(session, context, clock),
          isDryRun,
          ...(from !== null && { from }),
          maxMessages: messagesPerRequest,
        })
        return {
          dry_run: isDryRun,
          count: messages.length,
          infected: messages.filter(message => message.scan === 'infected').length,
          not_in_quarantine: [...notFound],
          next_cursor: next && encodeCursor(next),
        }
      },
      {
        operator: 'confirmed',
        params: t.Object({ action: oneOf(['release', 'delete', 'rescan']) }),
        body: quarantineActionSchema,
        response: quarantineActionResultSchema,
        detail: describeRoute('changeQuarantine', 'Release, delete or scan again messages in quarantine', [
          'not_found',
        ]),
      },
    )
}

interface QuarantineFilterFields {
  readonly organization_id?: string | undefined
  readonly sha256?: string | undefined
}

/** @throws Refusal `not_found` */
async function readFilter(db: Db, { organization_id, sha256 }: QuarantineFilterFields): Promise<QuarantineFilter> {
  return {
    ...(organization_id !== undefined && { organizationId: await requireOrganization(db, organization_id) }),
    ...(sha256 !== undefined && { sha256: Buffer.from(sha256, 'hex') }),
  }
}

/** @throws Refusal `invalid_request`, `not_found` */
async function readSelection(
  db: Db,
  { ids, ...fields }: QuarantineFilterFields & { readonly ids?: readonly string[] | undefined },
): Promise<QuarantineFilter> {
  const filter = await readFilter(db, fields)
  if ((ids !== undefined && ids.length > 0) === (filter.sha256 !== undefined))
    throw refuse('invalid_request', { message: 'Say which messages: ids, or sha256.' })
  if (ids === undefined) return filter
  return {
    ...filter,
    ids: ids.map(id => {
      if (isId('msg', id)) return id
      throw refuse('invalid_request', {
        message: `${JSON.stringify(id.slice(0, 40))} is no id of a message.`,
        param: 'ids',
      })
    }),
  }
}

/** @throws Refusal `invalid_cursor` */
function readOlderThan(cursor: string | undefined): QuarantineRange['olderThan'] {
  if (cursor === undefined) return undefined
  const [at = '', id = ''] = decodeCursor(cursor, 2)
  const receivedAt = fromIso(at)
  if (receivedAt === undefined || !isId('msg', id)) throw invalidCursor(cursor)
  return { receivedAt, id }
}
