import { t } from 'elysia'
import { dateTimeSchema, nullable } from '../../api/common-schemas.ts'
import { toIso } from '../../base/clock.ts'
import type { RequestLogRow } from './table.ts'

/** A request with an API key. */
export const requestSchema = t.Object(
  {
    id: t.String({ description: 'The X-Request-Id of the response.' }),
    created_at: dateTimeSchema,
    client_request_id: nullable(t.String({ description: 'The X-Request-Id that the client sent.' })),
    method: t.String(),
    path: t.String({ description: 'Without the query.' }),
    status: t.Integer(),
    duration_ms: t.Integer(),
    api_key_id: t.String(),
    brand_id: nullable(t.String({ description: 'The brand that the key is restricted to.' })),
    ip: t.String(),
    user_agent: nullable(t.String()),
    error_code: nullable(t.String()),
    idempotent_replay: t.Boolean(),
    email_id: nullable(t.String({ description: 'The email that the request created.' })),
  },
  { title: 'ApiRequest' },
)

export const requestPageSchema = t.Object({ data: t.Array(requestSchema), next_before: nullable(dateTimeSchema) })

export function toJsonRequest(row: RequestLogRow): typeof requestSchema.static {
  return {
    id: row.id,
    created_at: toIso(row.created_at),
    client_request_id: row.client_request_id,
    method: row.method,
    path: row.path,
    status: row.status,
    duration_ms: row.duration_ms,
    api_key_id: row.api_key_id,
    brand_id: row.brand_id,
    ip: row.ip,
    user_agent: row.user_agent,
    error_code: row.error_code,
    idempotent_replay: row.idempotent_replay === 1,
    email_id: row.email_id,
  }
}
