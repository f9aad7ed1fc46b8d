import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../../api/common-schemas.ts'
import { toIso } from '../../../base/clock.ts'
import type { DeliveryRow } from './table.ts'

export const deliveryStatuses = ['delivered', 'retrying', 'failed'] as const

/** What became of an event at a webhook. */
export const deliverySchema = t.Object(
  {
    id: t.String(),
    event_id: t.String({ description: 'The `webhook-id`, the same at each attempt.' }),
    type: t.String(),
    attempt: t.Integer({ description: 'How many attempts were made.' }),
    at: dateTimeSchema,
    duration_ms: nullable(t.Integer()),
    status: oneOf(deliveryStatuses),
    http_status: nullable(t.Integer()),
    error: nullable(t.String({ description: 'Why the last attempt failed.' })),
    response: nullable(t.String({ description: 'The start of the body of the last response, at most 1 KB.' })),
    next_at: nullable(dateTimeSchema),
  },
  { title: 'WebhookDelivery' },
)
export type DeliveryJson = typeof deliverySchema.static

export const deliveryPageSchema = t.Object({
  data: t.Array(deliverySchema),
  next_cursor: nullable(t.String()),
})

/** The body of POST /v1/webhooks/{id}/replay. */
export const replaySchema = t.Object({
  from: t.String({ description: 'Only events that were recorded at or after this instant.' }),
  to: t.Optional(t.String({ description: 'Only events that were recorded before this instant; now unless given.' })),
  types: t.Optional(t.Array(t.String(), { minItems: 1, maxItems: 100 })),
  cursor: t.Optional(t.String({ description: '`next_cursor` of the request before, with otherwise the same body.' })),
  dry_run: t.Optional(t.Boolean({ description: 'Only counts the events: nothing is delivered.' })),
  only: oneOf(['failed', 'all'], {
    description: '`failed`: only those whose last delivery failed for good; `all`: also those that were delivered.',
  }),
})
export type ReplayRequest = typeof replaySchema.static

export const replayResultSchema = t.Object(
  {
    replayed: t.Integer({ description: 'Events that are delivered again now, or would be.' }),
    next_cursor: nullable(
      t.String({ description: 'There are more: make the same request with this as `cursor`; null: that was all.' }),
    ),
  },
  { title: 'WebhookReplay' },
)

export function toJsonDelivery(row: DeliveryRow): DeliveryJson {
  return {
    id: row.id,
    event_id: row.event_id,
    type: row.type,
    attempt: row.attempt,
    at: toIso(row.at),
    duration_ms: row.duration_ms,
    status: row.status,
    http_status: row.http_status,
    error: row.error,
    response: row.response,
    next_at: row.next_at && toIso(row.next_at),
  }
}
