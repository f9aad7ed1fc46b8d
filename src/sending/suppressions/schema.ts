import { t } from 'elysia'
import { dateTime, nullable, oneOf } from '../../api/common-schemas.ts'

/** Why an address is not sent to. */
const reasons = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const
const suppressionReason = oneOf(reasons)
export const suppressionFilter = oneOf(reasons, { description: 'For this reason.' })

const suppressionFields = {
  email: t.String({ description: 'The address, in lower case.' }),
  brand_id: t.String(),
  reason: suppressionReason,
  source_email_id: nullable(t.String()),
  evidence: nullable(t.String({ description: 'The SMTP reply or the report that caused it.' })),
  created_at: dateTime,
  expires_at: nullable(dateTime),
}

export const suppressionShape = t.Object(suppressionFields, { title: 'Suppression' })
export type SuppressionShape = typeof suppressionShape.static

export const suppressionPageShape = t.Object({
  data: t.Array(suppressionShape),
  next_cursor: nullable(t.String()),
})

export const suppressionCheckShape = t.Object({
  email: t.String(),
  suppressed: t.Boolean(),
  suppression: nullable(suppressionShape),
})

export const suppressionDeletedShape = t.Object({ email: t.String(), deleted: t.Literal(true) })

/** What POST /v1/suppressions takes. */
export const suppressShape = t.Object({
  email: t.String({ maxLength: 1024 }),
  brand_id: t.Optional(t.String()),
  expires_at: t.Optional(t.String({ expected: 'a date-time to come, such as 2026-01-31T08:15:00Z' })),
})
