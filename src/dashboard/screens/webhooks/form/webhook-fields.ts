import type { EventType } from '../../../components/events/event-types.ts'
import { isEventType } from '../../../components/events/event-types.ts'
import type { Webhook } from '../webhook.ts'

/** A header that is sent with each delivery. */
export interface DeliveryHeader {
  readonly key: number
  readonly name: string
  readonly value: string
}

/** What the form of an endpoint holds. */
export interface WebhookFields {
  readonly url: string
  readonly description: string
  readonly types: readonly EventType[]
  /** '': the whole organization. */
  readonly brandId: string
  /** Empty: all mailboxes. */
  readonly mailboxIds: readonly string[]
  /** null: those that are stored stay as they are; they are never shown. */
  readonly headers: readonly DeliveryHeader[] | null
}

/** The fields of an endpoint as it is. */
export function fieldsOf(webhook: Webhook): WebhookFields {
  return {
    url: webhook.url,
    description: webhook.description ?? '',
    types: webhook.types.filter(isEventType),
    brandId: webhook.brand_id ?? '',
    mailboxIds: webhook.mailbox_ids,
    headers: null,
  }
}

/** What both creating and changing an endpoint send. Headers without a name are left out. */
function commonBody({ url, types, mailboxIds, headers }: WebhookFields) {
  const named = headers?.filter(({ name }) => name.trim() !== '')
  return {
    url: url.trim(),
    types: [...types],
    mailbox_ids: [...mailboxIds],
    ...(named && { headers: Object.fromEntries(named.map(({ name, value }) => [name.trim(), value.trim()])) }),
  }
}

/** The body that creates an endpoint. */
export function newWebhookBody(fields: WebhookFields) {
  const description = fields.description.trim()
  return {
    ...commonBody(fields),
    ...(description && { description }),
    ...(fields.brandId && { brand_id: fields.brandId }),
  }
}

/** The body that changes one. */
export function webhookChangeBody(fields: WebhookFields) {
  return { ...commonBody(fields), description: fields.description.trim() || null }
}
