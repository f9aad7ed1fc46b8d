import type { Instant } from '../../base/clock.ts'
import type { NewEvent } from '../../events/append-events.ts'
import { toJsonSuppression } from './schema.ts'
import type { SuppressionRow } from './table.ts'

/** That an address was suppressed, or is no longer: removed, or expired. */
export function suppressionEvent(
  type: 'suppression.created' | 'suppression.deleted',
  row: SuppressionRow,
  at: Instant,
): NewEvent {
  const data = toJsonSuppression(row)
  return {
    type,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    occurredAt: at,
    data,
    shortened: () => ({ ...data, evidence: null }),
  }
}
