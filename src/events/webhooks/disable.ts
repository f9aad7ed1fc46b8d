import { type Operator, recordAuditEntry } from '../../accounts/audit/audit.ts'
import { type Instant, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { appendEvents } from '../append-events.ts'
import { type DisabledReason, isUnrequested } from './disabled-reason.ts'
import { updateWebhook, type WebhookRow } from './table.ts'

/** What enabling a webhook writes: an email to the owners that it is disabled is not owed any more. */
export const enabledState = {
  disabled_at: null,
  disabled_reason: null,
  failing_since: null,
  notice_due_at: null,
} as const satisfies Partial<WebhookRow>

/**
 * Disables a webhook that the transaction has locked: nothing more is delivered to it until it is enabled. Adds the event
 * `webhook.disabled`, and an audit entry unless the caller's own says so. Where nobody asked for it, the owners are owed an
 * email, which stays so until it is accepted for sending or the webhook is enabled.
 * @param operator who does it; null: the caller records who
 */
export async function disableWebhook(
  tx: Db,
  row: WebhookRow,
  {
    reason,
    now,
    operator,
  }: { readonly reason: DisabledReason; readonly now: Instant; readonly operator: Operator | null },
): Promise<void> {
  const notice_due_at = isUnrequested(reason) ? now : null
  await updateWebhook(tx, row.id, { disabled_at: now, disabled_reason: reason, notice_due_at, updated_at: now })
  await appendEvents(tx, [
    {
      type: 'webhook.disabled',
      organizationId: row.organization_id,
      brandId: row.brand_id,
      occurredAt: now,
      data: {
        webhook_id: row.id,
        url: row.url,
        reason,
        failing_since: row.failing_since && toIso(row.failing_since),
        last_success_at: row.last_success_at && toIso(row.last_success_at),
      },
    },
  ])
  if (operator)
    await recordAuditEntry(tx, operator, {
      action: 'webhook.disable',
      subject: row.id,
      organizationId: row.organization_id,
      detail: { url: row.url, reason },
    })
}
