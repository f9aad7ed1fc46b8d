import type { Instant } from '../../src/base/clock.ts'
import { toJson } from '../../src/base/database/schema.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import type { WebhookRow } from '../../src/events/webhooks/table.ts'

/** A new row of an enabled webhook that nothing was delivered to. It has no secret, so that nothing can be. */
export function webhookRow(organizationId: Id<'org'>, now: Instant, more: Partial<WebhookRow> = {}): WebhookRow {
  return {
    id: newId('whk'),
    organization_id: organizationId,
    url: 'https://hooks.example.com/in?token=x',
    types: 'email.sent',
    brand_id: null,
    mailbox_ids: toJson([]),
    description: null,
    sealed: '',
    sealed_by: '',
    secret_ends_in: '',
    maker_key_id: null,
    maker_member_id: null,
    read_through: 0,
    last_success_at: null,
    failing_since: null,
    disabled_at: null,
    disabled_reason: null,
    notice_due_at: null,
    lease: null,
    leased_until: null,
    created_at: now,
    updated_at: now,
    ...more,
  }
}
