import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../api/common-schemas.ts'
import type { ConditionalChange } from '../api/if-updated-at.ts'
import { toIso } from '../base/clock.ts'
import type { RetentionPlan } from './plan.ts'
import { maxRetentionDays } from './policies/change-policy.ts'
import { retentionKindNames } from './policies/kinds.ts'
import type { RetentionPolicyRow } from './policies/table.ts'
import type { StorageForecast } from './storage/forecast.ts'

const forecastSchema = t.Object({
  disks: t.Array(
    t.Object({
      path: t.String(),
      holds: oneOf(['database', 'spool']),
      free_bytes: t.Integer(),
      total_bytes: t.Integer(),
      days_until_full: nullable(t.Integer({ description: 'null: it does not grow, or less than a day was measured.' })),
    }),
  ),
  stored_bytes: t.Integer(),
  reusable_bytes: t.Integer({ description: 'Free space within the files of the tables, which new data uses first.' }),
  bytes_a_day: t.Object({ over_7_days: nullable(t.Integer()), over_30_days: nullable(t.Integer()) }),
})

export const storageSchema = t.Object({
  forecast: forecastSchema,
  kinds: t.Array(t.Object({ kind: t.String(), bytes: t.Integer() })),
  organizations: nullable(
    t.Array(t.Object({ organization_id: t.String(), name: t.String(), blobs: t.Integer(), bytes: t.Integer() }), {
      description:
        'The content of the largest, without the rows that describe it; null: it could not be counted in time.',
    }),
  ),
  measured_at: dateTimeSchema,
})

/** As `if_updated_at` elsewhere, with a word for null, which in a body counts as absent. */
export const ifSetAtSchema = t.Optional(
  t.String({
    description:
      'The `updated_at` that was read, `never` for null: what was set since stays, and the answer is 409 `changed_since_read`.',
  }),
)

/** What a change of a retention time depends on. */
export function readCondition({ if_updated_at }: { readonly if_updated_at?: string | undefined }): ConditionalChange {
  return { if_updated_at: if_updated_at === 'never' ? null : if_updated_at }
}

export const policyListSchema = t.Object({
  data: t.Array(
    t.Object({
      scope: t.String({ description: 'The id of an organization or a brand, or `instance`.' }),
      name: nullable(t.String()),
      kind: t.String(),
      days: nullable(t.Integer({ description: 'null: forever.' })),
      updated_at: nullable(t.String({ format: 'date-time', description: 'When it was set; null: by default.' })),
    }),
  ),
  kinds: t.Array(t.Object({ kind: t.String(), description: t.String(), minimum_days: t.Integer() })),
})

export const policyChangeSchema = t.Object({
  scope: t.String({ description: 'The id of an organization or a brand, or `instance`.' }),
  kind: oneOf(retentionKindNames),
  keep: oneOf(['days', 'forever', 'inherit'], { description: '`inherit`: removes what was set.' }),
  days: t.Optional(t.Integer({ minimum: 1, maximum: maxRetentionDays })),
  if_updated_at: ifSetAtSchema,
})

/** The `updated_at` of a retention time; undefined: it is not set. */
export function toJsonSetAt(policy: Pick<RetentionPolicyRow, 'set_at'> | undefined): string | null {
  return policy?.set_at ? toIso(policy.set_at) : null
}

/** What a retention plan is made of, as JSON. */
export function toJsonPlan({ removals, unreferencedBlobs }: RetentionPlan) {
  return {
    planned: removals.map(({ kind, organizationId, brandId, days, now, soon }) => ({
      kind,
      organization_id: organizationId,
      brand_id: brandId,
      days,
      now,
      within_30_days: soon,
    })),
    forgotten: unreferencedBlobs,
  }
}

export function toJsonForecast({ disks, stored, reusable, growth }: StorageForecast): typeof forecastSchema.static {
  return {
    disks: disks.map(({ path, holds, free, total, daysUntilFull }) => ({
      path,
      holds,
      free_bytes: free,
      total_bytes: total,
      days_until_full: daysUntilFull,
    })),
    stored_bytes: stored,
    reusable_bytes: reusable,
    bytes_a_day: { over_7_days: growth.over7Days, over_30_days: growth.over30Days },
  }
}
