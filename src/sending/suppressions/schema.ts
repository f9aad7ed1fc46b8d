import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { toIso } from '../../base/clock.ts'
import type { SuppressionRow } from './table.ts'

/** Why an address is suppressed. */
const reasons = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const
const suppressionReasonSchema = oneOf(reasons)
export const suppressionReasonFilterSchema = oneOf(reasons, { description: 'Only suppressions for this reason.' })

const suppressionFields = {
  email: t.String({ description: 'The address, in lower case.' }),
  brand_id: t.String(),
  reason: suppressionReasonSchema,
  source_email_id: nullable(t.String()),
  evidence: nullable(t.String({ description: 'The SMTP reply or the report that caused it.' })),
  created_at: dateTimeSchema,
  expires_at: nullable(dateTimeSchema),
}

export const suppressionSchema = t.Object(suppressionFields, { title: 'Suppression' })
export type SuppressionJson = typeof suppressionSchema.static

export const suppressionPageSchema = t.Object({
  data: t.Array(suppressionSchema),
  next_cursor: nullable(t.String()),
})

export const suppressionCheckSchema = t.Object({
  email: t.String(),
  suppressed: t.Boolean(),
  suppression: nullable(suppressionSchema),
})

export const suppressionDeletedSchema = t.Object({ email: t.String(), deleted: t.Literal(true) })

/** The body of POST /v1/suppressions. */
export const newSuppressionSchema = t.Object({
  email: t.String({ maxLength: 1024 }),
  brand_id: t.Optional(t.String()),
  expires_at: t.Optional(t.String({ expected: 'a date-time in the future, such as 2026-01-31T08:15:00Z' })),
})

export function toJsonSuppression(row: SuppressionRow): SuppressionJson {
  return {
    email: row.email,
    brand_id: row.brand_id,
    reason: row.reason,
    source_email_id: row.source_email_id,
    evidence: row.evidence,
    created_at: toIso(row.created_at),
    expires_at: row.expires_at === null ? null : toIso(row.expires_at),
  }
}
