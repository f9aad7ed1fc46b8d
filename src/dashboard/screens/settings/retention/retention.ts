import type { components } from '../../../api/generated/app.ts'
import { formatBytes } from '../../../components/text/Amount.tsx'
import { settingStrings as strings } from '../strings.ts'

/** How long a kind is kept. */
export type RetentionRow = components['schemas']['OrganizationRetention']['data'][number]

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
