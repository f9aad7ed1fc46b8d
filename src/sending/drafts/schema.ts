import { t } from 'elysia'
import { dateTimeSchema, nullable } from '../../api/common-schemas.ts'
import { ifUpdatedAtSchema } from '../../api/if-updated-at.ts'
import { toIso } from '../../base/clock.ts'
import { fromJson } from '../../base/database/schema.ts'
import { sendEmailSchema } from '../emails/schema.ts'
import type { DraftRow } from './table.ts'

// Addresses may be incomplete: only what could never become one is refused.
const address = t.String({
  maxLength: 1024,
  pattern: '^[^\\x00-\\x1f\\x7f]*$',
  expected: 'an address on one line, of at most 1024 characters',
})
const addresses = t.Union([address, t.Array(address, { maxItems: 200 })])
const subject = t.String({
  maxLength: 998,
  pattern: '^[^\\r\\n\\x00]*$',
  expected: 'a subject of at most 998 characters on one line',
})

const inputs = {
  brand_id: t.String({ description: 'The brand, when From’s domain does not determine it.' }),
  from: address,
  to: addresses,
  cc: addresses,
  bcc: addresses,
  reply_to: addresses,
  subject,
  text: t.String({ description: 'At most 2 MiB.' }),
  in_reply_to: t.String({ description: 'The id of the received message that the draft replies to.' }),
}

/** The body of POST /v1/drafts. */
export const newDraftSchema = t.Partial(t.Object(inputs))

/** The body of PATCH /v1/drafts/{id}: null empties a field. */
export const draftChangeSchema = t.Partial(
  t.Object({
    brand_id: nullable(inputs.brand_id),
    from: nullable(inputs.from),
    to: nullable(inputs.to),
    cc: nullable(inputs.cc),
    bcc: nullable(inputs.bcc),
    reply_to: nullable(inputs.reply_to),
    subject: nullable(inputs.subject),
    text: nullable(inputs.text),
    in_reply_to: nullable(inputs.in_reply_to),
    if_updated_at: ifUpdatedAtSchema,
  }),
)
export type DraftChange = typeof draftChangeSchema.static

/** The body of POST /v1/drafts/{id}/send. */
export const draftSendSchema = t.Object({ scheduled_at: sendEmailSchema.properties.scheduled_at })

/** A draft as the API shows it. */
export const draftSchema = t.Object({
  id: t.String(),
  brand_id: nullable(t.String()),
  from: nullable(t.String()),
  to: t.Array(t.String()),
  cc: t.Array(t.String()),
  bcc: t.Array(t.String()),
  reply_to: t.Array(t.String()),
  subject: nullable(t.String()),
  text: nullable(t.String()),
  in_reply_to: nullable(t.String()),
  created_at: dateTimeSchema,
  updated_at: dateTimeSchema,
})
export type DraftJson = typeof draftSchema.static

export const draftPageSchema = t.Object({ data: t.Array(draftSchema), next_cursor: nullable(t.String()) })

export function toJsonDraft(row: DraftRow): DraftJson {
  return {
    id: row.id,
    brand_id: row.brand_id,
    from: row.from_header,
    to: [...fromJson(row.to_addresses)],
    cc: [...fromJson(row.cc_addresses)],
    bcc: [...fromJson(row.bcc_addresses)],
    reply_to: [...fromJson(row.reply_to)],
    subject: row.subject,
    text: row.text,
    in_reply_to: row.in_reply_to,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  }
}
