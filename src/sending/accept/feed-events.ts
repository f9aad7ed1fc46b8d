import { toJson } from '../../base/database/schema.ts'
import { newId } from '../../base/ids.ts'
import type { NewEvent } from '../../events/append-events.ts'
import { type EventEmail, emailFeedEvent } from '../events/feed-events.ts'
import type { EmailRows } from './table.ts'

/** The events of an email's acceptance: that it is queued or scheduled, and each recipient who is suppressed. */
export function acceptedFeedEvents({ email, events }: EmailRows): readonly NewEvent[] {
  const about: EventEmail = {
    id: email.id,
    organizationId: email.organization_id,
    brandId: email.brand_id,
    messageId: email.message_id,
    subject: email.subject,
    tags: email.tags,
    metadata: email.metadata,
  }
  const accepted = {
    id: newId('evt'),
    type: email.status,
    recipient: null,
    occurred_at: email.created_at,
    smtp_code: null,
    enhanced_code: null,
    detail: null,
    bounce: null,
    extra: toJson({}),
  }
  return [
    emailFeedEvent(about, accepted, email.status),
    ...events.map(event => emailFeedEvent(about, event, 'suppressed')),
  ]
}
