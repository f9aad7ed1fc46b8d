import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { ifUpdatedAtSchema } from '../../api/if-updated-at.ts'
import { type Instant, toIso } from '../../base/clock.ts'
import { fromJson } from '../../base/database/schema.ts'
import { maxUrlLength } from './destination/destination.ts'
import type { WebhookRow } from './table.ts'

export const maxWebhooks = 20
const maxMailboxIds = 50
export const maxHeaders = 5
const maxTypes = 100
const maxGraceSeconds = 604_800

const url = t.String({ minLength: 1, maxLength: maxUrlLength, description: 'An https URL without credentials.' })
const types = t.Array(t.String(), { minItems: 1, maxItems: maxTypes, description: 'Types of events: one or more.' })
const brandId = t.String({ description: 'Only events of this brand.' })
const mailboxIds = t.Array(t.String(), {
  maxItems: maxMailboxIds,
  description: 'Only events of these mailboxes, which are those about received messages. Empty: all events.',
})
const description = t.String({ maxLength: 256, pattern: '^[^\\x00-\\x1f\\x7f]*$', expected: 'one line' })
const headers = t.Record(t.String(), t.String(), {
  description: `At most ${maxHeaders}, sent with each delivery, such as Authorization. They are never shown again.`,
})
const enabled = t.Boolean({ description: 'False: nothing is delivered.' })

/** The body of POST /v1/webhooks. */
export const newWebhookSchema = t.Object({
  url,
  types,
  brand_id: t.Optional(brandId),
  mailbox_ids: t.Optional(mailboxIds),
  description: t.Optional(description),
  headers: t.Optional(headers),
  enabled: t.Optional(enabled),
})
export type NewWebhook = typeof newWebhookSchema.static

/** The body of PATCH /v1/webhooks/{id}. */
export const webhookChangeSchema = t.Object({
  url: t.Optional(url),
  types: t.Optional(types),
  brand_id: t.Optional(nullable(brandId)),
  mailbox_ids: t.Optional(mailboxIds),
  description: t.Optional(nullable(description)),
  headers: t.Optional(headers),
  enabled: t.Optional(enabled),
  if_updated_at: ifUpdatedAtSchema,
})
export type WebhookChange = typeof webhookChangeSchema.static

/** The body of POST /v1/webhooks/{id}/rotate-secret. */
export const rotationSchema = t.Object({
  grace_seconds: t.Optional(
    t.Integer({
      minimum: 0,
      maximum: maxGraceSeconds,
      description: 'For so long the old secret signs as well; 86400 unless given.',
    }),
  ),
})

const disabledReasons = ['requested', 'gone', 'failing', 'not_allowed', 'operator'] as const

const webhookFields = {
  id: t.String(),
  url: t.String(),
  types: t.Array(t.String()),
  brand_id: nullable(t.String()),
  mailbox_ids: t.Array(t.String()),
  description: nullable(t.String()),
  status: oneOf(['active', 'failing', 'disabled'], {
    description: '`failing`: the last attempt was in vain; after five days without a success it is disabled.',
  }),
  disabled_reason: nullable(
    oneOf(disabledReasons, {
      description:
        '`requested`: by PATCH; `gone`: it responded 410; `failing`: five days without a success; `not_allowed`: the key or member that made it may no longer see any of its types; `operator`: by the operator of this instance.',
    }),
  ),
  last_success_at: nullable(dateTimeSchema),
  failing_since: nullable(dateTimeSchema),
  secret_ends_in: t.String({ description: 'The last four characters of its secret.' }),
  created_at: dateTimeSchema,
  updated_at: dateTimeSchema,
}

/** A webhook in API responses. */
export const webhookSchema = t.Object(webhookFields, { title: 'Webhook' })
export type WebhookJson = typeof webhookSchema.static

/** A new webhook with its secret, which is shown only here. */
export const createdWebhookSchema = t.Object(
  { ...webhookFields, secret: t.String({ description: 'Verifies deliveries; shown only once.' }) },
  { title: 'CreatedWebhook' },
)

export const rotatedSecretSchema = t.Object({
  id: t.String(),
  secret: t.String({ description: 'The new secret; shown only once.' }),
  previous_until: dateTimeSchema,
})

/** What came back from a test. */
export const webhookTestSchema = t.Object(
  {
    event_id: t.String({ description: 'The `webhook-id` of the delivery.' }),
    is_delivered: t.Boolean({ description: 'The response was 2xx within 15 seconds.' }),
    duration_ms: t.Integer(),
    http_status: nullable(t.Integer()),
    error: nullable(t.String({ description: 'Why there was no response, or what is wrong with it.' })),
    response: nullable(t.String({ description: 'The start of the body, at most 1 KB.' })),
  },
  { title: 'WebhookTest' },
)

/** The types, as the column holds them. */
export function typesOf(row: Pick<WebhookRow, 'types'>): readonly string[] {
  return row.types.split(' ')
}

export function statusOf(row: Pick<WebhookRow, 'disabled_at' | 'failing_since'>): WebhookJson['status'] {
  if (row.disabled_at !== null) return 'disabled'
  return row.failing_since === null ? 'active' : 'failing'
}

export function toJsonWebhook(row: WebhookRow): WebhookJson {
  const time = (at: Instant | null) => at && toIso(at)
  return {
    id: row.id,
    url: row.url,
    types: [...typesOf(row)],
    brand_id: row.brand_id,
    mailbox_ids: [...fromJson(row.mailbox_ids)],
    description: row.description,
    status: statusOf(row),
    disabled_reason: row.disabled_reason,
    last_success_at: time(row.last_success_at),
    failing_since: time(row.failing_since),
    secret_ends_in: row.secret_ends_in,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  }
}
