import { recordCallerEntry } from '../../../accounts/audit/audit.ts'
import type { Caller } from '../../../api/caller.ts'
import { toIso } from '../../../base/clock.ts'
import { newId } from '../../../base/ids.ts'
import type { webhookTestSchema } from '../schema.ts'
import { loadWebhook, type WebhookDeps } from '../webhooks.ts'
import { type AttemptDeps, attemptDelivery } from './attempt.ts'

/**
 * Delivers an event `webhook.test` once, and gives what came back. It is no event of the sequence, and says nothing about the
 * state of the webhook.
 * @throws Refusal `not_found`, `brand_restricted`
 */
export async function testWebhook(
  deps: WebhookDeps & AttemptDeps,
  caller: Caller,
  webhookId: string,
): Promise<typeof webhookTestSchema.static> {
  const { db, clock } = deps
  const webhook = await loadWebhook(db, caller, webhookId)
  const id = newId('evt')
  const body = JSON.stringify({
    id,
    sequence: null,
    type: 'webhook.test',
    brand_id: webhook.brand_id,
    occurred_at: toIso(clock.now()),
    data: { webhook_id: webhook.id },
  })
  const result = await attemptDelivery(deps, webhook, { id, body })
  const { httpStatus, error, response, durationMs } = result
  await recordCallerEntry(db, caller, clock, {
    action: 'webhook.test',
    subject: webhook.id,
    detail: { http_status: httpStatus, error },
  })
  return {
    event_id: id,
    is_delivered: error === null,
    duration_ms: durationMs,
    http_status: httpStatus,
    error,
    response,
  }
}
