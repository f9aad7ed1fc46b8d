import { type Operator, recordAuditEntry } from '../../accounts/audit/audit.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { updateWaitingDue } from './deliveries/table.ts'
import { disableWebhook, enabledState } from './disable.ts'
import { lockWebhook, updateWebhook, type WebhookRow } from './table.ts'

/** Disables a webhook of any organization; one that is disabled already stays so. Undefined: there is none. */
export function disableByOperator(db: Db, operator: Operator, id: Id<'whk'>): Promise<WebhookRow | undefined> {
  return inTransaction(db, async tx => {
    const row = await lockWebhook(tx, id)
    if (row?.disabled_at === null)
      await disableWebhook(tx, row, { reason: 'operator', now: operator.clock.now(), operator })
    return row
  })
}

/** Enables a webhook of any organization, which goes on from where it stopped. Undefined: there is none. */
export function enableByOperator(db: Db, operator: Operator, id: Id<'whk'>): Promise<WebhookRow | undefined> {
  return inTransaction(db, async tx => {
    const row = await lockWebhook(tx, id)
    if (!row || row.disabled_at === null) return row
    await updateWebhook(tx, id, { ...enabledState, updated_at: operator.clock.now() })
    await recordOperatorEntry(tx, operator, row, 'webhook.enable', {})
    return row
  })
}

const rowsPerUpdate = 1000

/** Makes the deliveries that wait for another attempt due now; gives how many those are. */
export async function retryByOperator(db: Db, operator: Operator, row: WebhookRow): Promise<number> {
  const now = operator.clock.now()
  let retried = 0
  for (let count = rowsPerUpdate; count === rowsPerUpdate; retried += count)
    count = await inTransaction(db, tx => updateWaitingDue(tx, row.id, now, rowsPerUpdate))
  await recordOperatorEntry(db, operator, row, 'webhook.retry', { deliveries: retried })
  return retried
}

/** Writes the audit entry of what an operator did to a webhook. */
export function recordOperatorEntry(
  db: Db,
  operator: Operator,
  row: Pick<WebhookRow, 'id' | 'organization_id'>,
  action: `webhook.${string}`,
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  return recordAuditEntry(db, operator, { action, subject: row.id, organizationId: row.organization_id, detail })
}
