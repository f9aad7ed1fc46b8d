import type { Instant } from '../../../base/clock.ts'
import { inTransaction } from '../../../base/database/database.ts'
import type { Id } from '../../../base/ids.ts'
import { upsertDeliveries } from '../deliveries/table.ts'
import { disableWebhook } from '../disable.ts'
import type { DisabledReason } from '../disabled-reason.ts'
import { lockWebhook, updateWebhook, type WebhookRow } from '../table.ts'
import type { DispatchDeps } from './dispatch-deps.ts'
import { disabledBy, type TaskOutcome } from './outcome.ts'

/** What is written together. */
export interface DispatchSettlement {
  readonly webhookId: Id<'whk'>
  readonly outcomes: readonly TaskOutcome[]
  /** All events up to it are delivered, waiting for another attempt, or not for this webhook. */
  readonly readThrough: number
}

/** `lost`: the webhook is no longer ours, or deleted, and nothing was written. */
export type SettledDispatch =
  | { readonly kind: 'written'; readonly failingSince: Instant | null; readonly disabled: DisabledReason | null }
  | { readonly kind: 'lost' }

/** Writes what became of attempts, and how far the webhook has read, while the lease of `holder` holds. */
export function settleDispatch(
  { db, clock }: Pick<DispatchDeps, 'db' | 'clock'>,
  holder: string,
  { webhookId, outcomes, readThrough }: DispatchSettlement,
): Promise<SettledDispatch> {
  return inTransaction(db, async tx => {
    const row = await lockWebhook(tx, webhookId)
    if (row?.lease !== holder) return { kind: 'lost' }
    const now = clock.now()
    await upsertDeliveries(
      tx,
      outcomes.map(outcome => outcome.delivery),
    )
    const state = stateAfter(row, outcomes, now)
    await updateWebhook(tx, webhookId, { ...state, read_through: Math.max(Number(row.read_through), readThrough) })
    const reason = row.disabled_at === null ? findDisabling(outcomes, state.failing_since, now) : null
    if (reason !== null) {
      const operator = { actor: 'mailroom', clock }
      await disableWebhook(tx, { ...row, ...state }, { reason, now, operator })
    }
    return { kind: 'written', failingSince: state.failing_since, disabled: reason }
  })
}

/** Disables a webhook whose maker may see nothing of it any more. False: somebody else answers for it since. */
export async function disableNotAllowed(
  { db, clock }: Pick<DispatchDeps, 'db' | 'clock'>,
  holder: string,
  webhook: WebhookRow,
): Promise<boolean> {
  return await inTransaction(db, async tx => {
    const row = await lockWebhook(tx, webhook.id)
    if (row?.lease !== holder || row.disabled_at !== null || row.updated_at !== webhook.updated_at) return false
    const operator = { actor: 'mailroom', clock }
    await disableWebhook(tx, row, { reason: 'not_allowed', now: clock.now(), operator })
    return true
  })
}

function stateAfter(
  row: WebhookRow,
  outcomes: readonly TaskOutcome[],
  now: Instant,
): Pick<WebhookRow, 'last_success_at' | 'failing_since'> {
  let { last_success_at, failing_since } = row
  for (const { isSuccess } of outcomes) {
    if (isSuccess === true) {
      last_success_at = now
      failing_since = null
    } else if (isSuccess === false) failing_since ??= now
  }
  return { last_success_at, failing_since }
}

function findDisabling(outcomes: readonly TaskOutcome[], failingSince: Instant | null, now: Instant) {
  for (const outcome of outcomes) {
    const reason = disabledBy(outcome, failingSince, now)
    if (reason !== null) return reason
  }
  return null
}
