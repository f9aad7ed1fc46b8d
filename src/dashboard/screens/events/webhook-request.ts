import type { Webhook } from '../webhooks/webhook.ts'
import type { FeedEvent } from './event.ts'

/** The request that a webhook gets for an event, as far as it is the same for every endpoint. Its body has no line breaks. */
export function webhookRequest(event: Omit<FeedEvent, 'cursor'>): string {
  const headers = [
    'content-type: application/json',
    `webhook-id: ${event.id}`,
    'webhook-timestamp: …',
    'webhook-signature: v1,…',
  ]
  return `POST …\n${headers.join('\n')}\n\n${JSON.stringify(event, null, 2)}`
}

/** Is this an event that the endpoint gets as it is set up now? */
export function isSentTo(webhook: Webhook, { type, brand_id, data }: Omit<FeedEvent, 'cursor'>): boolean {
  if (webhook.status === 'disabled' || !webhook.types.includes(type)) return false
  if (webhook.brand_id !== null && webhook.brand_id !== brand_id) return false
  if (webhook.mailbox_ids.length === 0 || !type.startsWith('message.')) return true
  const mailbox: unknown = data['mailbox_id']
  return typeof mailbox === 'string' && webhook.mailbox_ids.includes(mailbox)
}
