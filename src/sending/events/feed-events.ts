import { type DatabaseSchema, type EmailStatus, fromJson } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import type { NewEvent } from '../../events/append-events.ts'
import { truncate } from '../../mail/text.ts'

/** What an event of the feed tells of the email itself. */
export interface EventEmail {
  readonly id: Id<'eml'>
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  /** Without angle brackets. */
  readonly messageId: string
  readonly subject: string
  readonly tags: DatabaseSchema['emails']['tags']
  readonly metadata: DatabaseSchema['emails']['metadata']
}

/** What happened to it, as it is recorded with the email. */
export type EmailEvent = Pick<
  DatabaseSchema['email_events'],
  'id' | 'recipient' | 'occurred_at' | 'smtp_code' | 'enhanced_code' | 'detail' | 'bounce' | 'extra'
> & { readonly type: DatabaseSchema['email_events']['type'] | 'unconfirmed' }

/** Of the reply, where an event is shortened. */
const maxDetail = 1024

/**
 * The event of the feed for one of an email. Where it is too large, tags and metadata are left out and the detail is cut: then
 * `truncated` is true, and GET /v1/emails/{id} has all.
 * @param status of the recipient, or of the email where the event is not about one, after the event
 */
export function emailFeedEvent(email: EventEmail, event: EmailEvent, status: EmailStatus): NewEvent {
  const data = {
    email_id: email.id,
    recipient: event.recipient,
    status,
    message_id: email.messageId,
    subject: email.subject,
    tags: fromJson(email.tags),
    metadata: fromJson(email.metadata),
    smtp_code: event.smtp_code,
    enhanced_code: event.enhanced_code,
    detail: event.detail,
    bounce: event.bounce && fromJson(event.bounce),
    ...(event.type === 'replied' ? { reply_id: replyIdOf(event) } : {}),
    truncated: false,
  }
  return {
    id: event.id,
    type: `email.${event.type}`,
    organizationId: email.organizationId,
    brandId: email.brandId,
    occurredAt: event.occurred_at,
    data,
    shortened: () => ({
      ...data,
      tags: [],
      metadata: {},
      detail: event.detail && truncate(event.detail, maxDetail),
      truncated: true,
    }),
  }
}

/** The received message that replied. */
function replyIdOf({ extra }: EmailEvent): unknown {
  return fromJson(extra)['message_id'] ?? null
}
