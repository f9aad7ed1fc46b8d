import type { components } from '../../../api/generated/app.ts'
import { formatBytes } from '../../../components/text/Amount.tsx'
import { settingStrings as strings } from '../strings.ts'

/** How long a kind is kept. */
export type RetentionRow = components['schemas']['OrganizationRetention']['data'][number]

/** What is set for an organization or a brand itself; without `updated_at` nothing is. */
export type SetRetention = Pick<RetentionRow, 'days' | 'updated_at'>

/** What is set for a brand itself, or with an empty id for the organization. */
export function setRetentionOf(row: RetentionRow, brandId: string): SetRetention {
  if (brandId === '') return row
  return row.brands.find(brand => brand.brand_id === brandId) ?? { days: null, updated_at: null }
}

/** How much of a kind would be deleted, in words; null: nothing, as far as was counted. */
export function amountOf(
  { data, is_complete: isComplete }: components['schemas']['OrganizationRetentionPlan'],
  kind: string,
): string | null {
  const found = data.find(row => row.kind === kind)
  if (!found || found.items === 0) return null
  const text = `${strings.items(found.items)} (${formatBytes(found.bytes)})`
  return isComplete ? text : strings.atLeast(text)
}
