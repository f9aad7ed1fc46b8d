import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { emailStatuses } from '../../base/database/schema.ts'
import { variablesSchema } from '../templates/schema.ts'

const address = t.String({ maxLength: 1024, expected: 'an address such as a@example.com or Name <a@example.com>' })
const addresses = t.Union([address, t.Array(address)])
const tag = t.Object({
  name: t.String({ minLength: 1, maxLength: 120 }),
  value: t.String({ maxLength: 256 }),
})
const metadata = t.Record(t.String(), t.String({ maxLength: 2048 }))

/** The body of POST /v1/emails. */
export const sendEmailSchema = t.Object(
  {
    from: address,
    to: addresses,
    cc: t.Optional(addresses),
    bcc: t.Optional(addresses),
    reply_to: t.Optional(addresses),
    subject: t.Optional(t.String({ maxLength: 998 })),
    text: t.Optional(t.String()),
    html: t.Optional(t.String()),
    attachments: t.Optional(
      t.Array(
        t.Object({
          filename: t.String({ minLength: 1, maxLength: 255 }),
          content: t.String({ description: 'Base64 (RFC 4648 section 4), padded, without line breaks.' }),
          content_type: t.Optional(t.String({ maxLength: 255 })),
          content_id: t.Optional(t.String({ maxLength: 252, description: 'Makes the attachment inline: cid:…' })),
        }),
      ),
    ),
    template: t.Optional(
      t.String({
        description: 'The slug of a template of From’s brand. Fields of the request itself take precedence.',
      }),
    ),
    variables: t.Optional(variablesSchema),
    headers: t.Optional(t.Record(t.String(), t.String({ maxLength: 998 }))),
    tags: t.Optional(t.Array(tag, { maxItems: 20 })),
    metadata: t.Optional(metadata),
    scheduled_at: t.Optional(t.String({ expected: 'a date-time at most 30 days ahead, such as 2026-01-31T08:15:00Z' })),
    expires_in: t.Optional(
      t.Integer({
        minimum: 1,
        maximum: 432_000,
        description: 'For how long delivery is attempted, in seconds; an email that is not sent by then fails.',
      }),
    ),
    unsubscribe: t.Optional(
      t.Boolean({
        description: 'Adds a one-click unsubscribe link (RFC 8058); the email must have exactly one recipient.',
      }),
    ),
  },
  { title: 'SendEmail' },
)

/** The body of a request to send, checked against the schema. */
export type SendEmail = typeof sendEmailSchema.static

const recipientType = oneOf(['to', 'cc', 'bcc'])
const emailStatusSchema = oneOf(emailStatuses)

/** The query parameters that filter a list of emails. */
export const emailFilterParams = {
  status: t.Optional(oneOf(emailStatuses, { description: 'Only emails with this status.' })),
  brand_id: t.Optional(t.String()),
  tag: t.Optional(t.String({ maxLength: 400, description: 'Only emails with this tag: `name:value`.' })),
  recipient: t.Optional(t.String({ maxLength: 320, description: 'Only emails to this recipient.' })),
}

/** The 202 response of every operation that sends. */
export const sendAcceptedSchema = t.Object(
  {
    id: t.String(),
    status: oneOf(['queued', 'scheduled']),
    message_id: t.String({ description: 'The Message-ID, without angle brackets.' }),
    brand_id: t.String(),
    recipients: t.Array(t.Object({ email: t.String(), type: recipientType, status: emailStatusSchema })),
    created_at: dateTimeSchema,
  },
  { title: 'SendAccepted' },
)

export type SendAccepted = typeof sendAcceptedSchema.static

const itemFields = {
  id: t.String(),
  brand_id: t.String(),
  domain_id: t.String(),
  from: t.String(),
  to: t.Array(t.String()),
  cc: t.Array(t.String()),
  subject: t.String(),
  status: emailStatusSchema,
  tags: t.Array(tag),
  template: nullable(t.String()),
  attachment_count: t.Integer(),
  created_at: dateTimeSchema,
  scheduled_at: nullable(dateTimeSchema),
  last_event_at: dateTimeSchema,
}

/** A sent email in a list. */
export const emailItemSchema = t.Object(itemFields, { title: 'EmailItem' })
export type EmailItem = typeof emailItemSchema.static

export const emailPageSchema = t.Object(
  { data: t.Array(emailItemSchema), next_before: nullable(dateTimeSchema) },
  { title: 'EmailPage' },
)
export type EmailPage = typeof emailPageSchema.static

const evidence = {
  smtp_code: nullable(t.Integer()),
  enhanced_code: nullable(t.String()),
  detail: nullable(t.String()),
}

const emailEventSchema = t.Object(
  {
    id: t.String(),
    type: t.Union([emailStatusSchema, t.Literal('replied')]),
    recipient: nullable(t.String()),
    occurred_at: dateTimeSchema,
    recorded_at: dateTimeSchema,
    source: oneOf(['api', 'smtp', 'provider_webhook', 'dsn', 'inbound']),
    ...evidence,
    bounce: nullable(
      t.Object({
        type: oneOf(['permanent', 'transient', 'undetermined']),
        scope: oneOf(['recipient', 'infrastructure']),
        suppressed: t.Boolean(),
      }),
    ),
    data: t.Record(t.String(), t.Unknown()),
    tags: t.Array(tag),
    metadata,
  },
  { title: 'EmailEvent' },
)

/** A sent email with all that is known of its delivery. */
export const emailDetailSchema = t.Object(
  {
    ...itemFields,
    bcc: t.Array(t.String()),
    reply_to: t.Array(t.String()),
    message_id: t.String(),
    wire_message_id: nullable(t.String()),
    metadata,
    provider: t.String(),
    provider_message_id: nullable(t.String()),
    recipients: t.Array(
      t.Object({
        email: t.String(),
        type: recipientType,
        status: emailStatusSchema,
        ...evidence,
        updated_at: dateTimeSchema,
      }),
    ),
    events: t.Array(emailEventSchema),
    replies: t.Array(t.String()),
    sent_at: nullable(dateTimeSchema),
    error: nullable(t.String()),
  },
  { title: 'EmailDetail' },
)
export type EmailDetail = typeof emailDetailSchema.static

export const attachmentParamsSchema = t.Object({
  id: t.String({ minLength: 1 }),
  attachment_id: t.String({ minLength: 1 }),
})

/** The content of a sent email; once retention has removed it: nulls, and when that was. */
export const emailContentSchema = t.Object(
  {
    id: t.String(),
    subject: nullable(t.String()),
    text: nullable(t.String()),
    html: nullable(t.String()),
    headers: nullable(t.Array(t.Object({ name: t.String(), value: t.String() }))),
    attachments: t.Array(
      t.Object({
        id: t.String(),
        filename: t.String(),
        content_type: t.String(),
        size: t.Integer(),
        content_id: nullable(t.String()),
      }),
    ),
    available: t.Boolean(),
    purged_at: nullable(dateTimeSchema),
    attachments_purged_at: nullable(dateTimeSchema),
  },
  { title: 'EmailContent' },
)
export type EmailContent = typeof emailContentSchema.static
