import { type Static, t } from 'elysia'
import { dateTimeSchema, oneOf } from '../../api/common-schemas.ts'
import { ifUpdatedAtSchema } from '../../api/if-updated-at.ts'
import { toIso } from '../../base/clock.ts'
import type { BrandRow } from './table.ts'

export const brandNameSchema = t.String({
  minLength: 1,
  maxLength: 120,
  pattern: '^(?=.*\\S)[^\\x00-\\x1f\\x7f]*$',
  expected: 'a name of 1 to 120 characters on one line',
})

export const brandSlugSchema = t.String({
  pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
  expected: '1 to 63 lower-case letters, digits and hyphens that do not start with a hyphen',
})

/** The body of PATCH /v1/brands/{id}. */
export const brandChangeSchema = t.Object({
  name: t.Optional(brandNameSchema),
  slug: t.Optional(brandSlugSchema),
  if_updated_at: ifUpdatedAtSchema,
})
export type BrandChange = Static<typeof brandChangeSchema>

/** A brand in API responses. */
export const brandSchema = t.Object(
  {
    id: t.String(),
    organization_id: t.String(),
    name: t.String(),
    slug: t.String(),
    status: oneOf(['pending', 'ready']),
    created_at: dateTimeSchema,
    updated_at: dateTimeSchema,
  },
  { title: 'Brand' },
)

export type BrandJson = Static<typeof brandSchema>

export function toJsonBrand(row: BrandRow): BrandJson {
  return {
    id: row.id,
    organization_id: row.organization_id,
    name: row.name,
    slug: row.slug,
    status: row.status,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  }
}
