import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { type Instant, toIso } from '../../base/clock.ts'
import { emailStatuses } from '../../base/database/schema.ts'
import type { QueueCount } from './count-table.ts'
import { maxHoldReasonLength, maxSelectedEmails, queueStatuses } from './selection.ts'
import type { QueueRow } from './table.ts'

const queueCountFields = {
  total: t.Integer(),
  held: t.Integer(),
  in_flight: t.Integer(),
  due: t.Integer(),
  later: t.Integer(),
  oldest_due_at: nullable(dateTimeSchema),
  oldest_tried_at: nullable(dateTimeSchema),
}

const queueCountSchema = t.Object(queueCountFields, { title: 'QueueCount' })

/** The whole queue, the organizations and the domains with the most in it, and what the relays say. */
export const queueSummarySchema = t.Object({
  queue: queueCountSchema,
  organizations: t.Array(t.Object({ organization_id: t.String(), name: t.String(), ...queueCountFields })),
  domains: t.Array(t.Object({ domain: t.String(), ...queueCountFields })),
  counted_at: dateTimeSchema,
})

const queueRecipientSchema = t.Object(
  {
    email_id: t.String(),
    organization_id: t.String(),
    from: t.String(),
    recipient: t.String(),
    status: oneOf(emailStatuses),
    in_flight: t.Boolean({ description: 'A relay submits it now.' }),
    accepted_at: dateTimeSchema,
    scheduled_at: nullable(dateTimeSchema),
    next_attempt_at: nullable(dateTimeSchema),
    expires_at: dateTimeSchema,
    attempts: t.Integer(),
    last_reply: nullable(t.String()),
    held_at: nullable(dateTimeSchema),
    held_reason: nullable(t.String()),
  },
  { title: 'QueueRecipient' },
)

export const queuePageSchema = t.Object({
  data: t.Array(queueRecipientSchema),
  next_cursor: nullable(t.String()),
})

/** The fields that say which recipients are meant: emails by id, a filter, or all. */
const selectionFields = {
  email_ids: t.Optional(t.Array(t.String(), { maxItems: maxSelectedEmails })),
  organization_id: t.Optional(t.String()),
  domain: t.Optional(t.String({ maxLength: 253 })),
  status: t.Optional(oneOf(queueStatuses)),
  is_held: t.Optional(t.Boolean()),
  is_all: t.Optional(t.Boolean({ description: 'The whole queue.' })),
}

export const queueActionSchema = t.Object({
  ...selectionFields,
  dry_run: t.Optional(t.Boolean({ description: 'Changes nothing, and counts what would be done.' })),
  cursor: t.Optional(t.String({ description: 'Goes on where the last call stopped: its next_cursor.' })),
  reason: t.Optional(t.String({ maxLength: maxHoldReasonLength, description: 'Of a hold, for operators.' })),
})

export const queueActionResultSchema = t.Object({
  dry_run: t.Boolean(),
  done: t.Integer(),
  in_flight: t.Integer(),
  as_it_was: t.Integer(),
  held: t.Integer(),
  scheduled: t.Integer(),
  not_queued: t.Array(t.String()),
  next_cursor: nullable(t.String({ description: 'null: all of the selection was done.' })),
})

/** A recipient in the queue, for operators. */
export function toJsonQueueRow(row: QueueRow, now: Instant): typeof queueRecipientSchema.static {
  const isInFlight = row.lease !== null && row.dueAt > now
  const time = (at: Instant | null) => at && toIso(at)
  return {
    email_id: row.emailId,
    organization_id: row.organizationId,
    from: row.fromAddress,
    recipient: row.recipient,
    status: row.status,
    in_flight: isInFlight,
    accepted_at: toIso(row.acceptedAt),
    scheduled_at: time(row.scheduledAt),
    next_attempt_at: isInFlight || row.heldAt !== null ? null : toIso(row.dueAt),
    expires_at: toIso(row.expiresAt),
    attempts: row.attempts,
    last_reply: row.lastReply,
    held_at: time(row.heldAt),
    held_reason: row.heldReason,
  }
}

export function toJsonQueueCount(count: QueueCount): typeof queueCountSchema.static {
  const { total, held, inFlight, due, later, oldestDueAt, oldestTriedAt } = count
  return {
    total,
    held,
    in_flight: inFlight,
    due,
    later,
    oldest_due_at: oldestDueAt && toIso(oldestDueAt),
    oldest_tried_at: oldestTriedAt && toIso(oldestTriedAt),
  }
}
