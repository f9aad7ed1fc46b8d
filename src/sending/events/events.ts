import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { newId } from '../../base/ids.ts'
import { appendEvents, type NewEvent } from '../../events/append-events.ts'
import type { DeliveryEvent } from './delivery-event.ts'
import { emailFeedEvent } from './feed-events.ts'
import { emailStatus, type KnownStatus, takesEffect } from './status.ts'
import {
  type EmailDeliveryState,
  type EmailEventRow,
  type EmailRecipientRow,
  insertEvents,
  lockEmailStates,
  selectRecipients,
  selectRepeatKeys,
  updateEmails,
  updateRecipients,
} from './table.ts'
import { recordWireMessageIds } from './wire-message-id.ts'

/**
 * Records events and updates the statuses of their recipients and emails, by the table in status.ts. Every status changes
 * here and nowhere else. Each is also an event of the feed. Runs in the caller's transaction, in which the emails stay locked.
 * One result for each event: false when it was recorded before, or its email does not exist.
 */
export async function recordEvents(
  db: Db,
  events: readonly DeliveryEvent[],
  now: Instant,
): Promise<readonly boolean[]> {
  if (events.length === 0) return []
  const ids = [...new Set(events.map(event => event.emailId))].sort()
  const [states, ofEmails, known] = await Promise.all([
    lockEmailStates(db, ids),
    // Runs after the lock.
    selectRecipients(db, ids),
    selectRepeatKeys(
      db,
      events.flatMap(event => event.repeatKey ?? []),
    ),
  ])
  const emails = new Map(states.map(email => [email.id, email]))
  const recipients = Map.groupBy(ofEmails, row => row.email_id)
  const seen = new Set(known)
  const isNew = events.map(event => emails.has(event.emailId) && isFirstOccurrence(event, seen))
  const rows: EmailEventRow[] = []
  const feed: NewEvent[] = []
  const changed = new Map<string, EmailRecipientRow>()
  for (const [i, event] of events.entries()) {
    const email = emails.get(event.emailId)
    if (!email || !isNew[i]) continue
    const row = eventRow(event, email, now)
    const updated = (recipients.get(event.emailId) ?? []).map(recipient => recipientAfter(recipient, event, changed))
    const after = emailAfter(email, event, updated)
    rows.push(row)
    feed.push(emailFeedEvent(email, row, recipientStatus(updated, event.recipient) ?? after.status))
    recipients.set(event.emailId, updated)
    emails.set(event.emailId, after)
  }
  await Promise.all([
    insertEvents(db, rows),
    appendEvents(db, feed),
    updateRecipients(db, [...changed.values()]),
    updateEmails(db, Array.from(new Set(rows.map(row => row.email_id)), id => emails.get(id)).filter(isPresent)),
  ])
  const replies = await recordWireMessageIds(
    db,
    events.filter((_, i) => isNew[i]),
    emails,
  )
  await recordEvents(db, replies, now)
  return isNew
}

function isPresent<Value>(value: Value | undefined): value is Value {
  return value !== undefined
}

function isFirstOccurrence(event: DeliveryEvent, seen: Set<string>): boolean {
  if (!event.repeatKey) return true
  const key = event.repeatKey.toString('hex')
  if (seen.has(key)) return false
  seen.add(key)
  return true
}

function eventRow(event: DeliveryEvent, email: EmailDeliveryState, now: Instant): EmailEventRow {
  return {
    id: newId('evt'),
    organization_id: email.organizationId,
    email_id: email.id,
    recipient: event.recipient,
    type: event.type,
    occurred_at: event.occurredAt,
    recorded_at: now,
    source: event.source,
    smtp_code: event.smtpCode ?? null,
    enhanced_code: event.enhancedCode ?? null,
    detail: event.detail ?? null,
    bounce: event.bounce ? toJson(event.bounce) : null,
    extra: toJson(event.extra ?? {}),
    repeat_key: event.repeatKey ?? null,
  }
}

/** The status of the recipient with this address; undefined: the email has none. */
function recipientStatus(recipients: readonly EmailRecipientRow[], address: string | null) {
  const lowerCase = address?.toLowerCase()
  return recipients.find(row => row.email.toLowerCase() === lowerCase)?.status
}

function recipientAfter(
  row: EmailRecipientRow,
  event: DeliveryEvent,
  changed: Map<string, EmailRecipientRow>,
): EmailRecipientRow {
  if (event.type === 'replied') return row
  if (event.recipient !== null && event.recipient.toLowerCase() !== row.email.toLowerCase()) return row
  const isReported = reportSources.has(event.source)
  const current: KnownStatus = { status: row.status, at: row.updated_at, isReported: row.reported === 1 }
  if (!takesEffect({ status: event.type, at: event.occurredAt, isReported }, current)) return row
  const next: EmailRecipientRow = {
    ...row,
    status: event.type,
    smtp_code: event.smtpCode ?? null,
    enhanced_code: event.enhancedCode ?? null,
    detail: event.detail ?? null,
    updated_at: event.occurredAt,
    reported: isReported ? 1 : 0,
  }
  changed.set(`${row.email_id} ${row.position}`, next)
  return next
}

const reportSources: ReadonlySet<DeliveryEvent['source']> = new Set(['dsn', 'provider_webhook'])
const failureTypes: ReadonlySet<DeliveryEvent['type']> = new Set(['failed', 'rejected', 'bounced'])

function emailAfter(
  email: EmailDeliveryState,
  event: DeliveryEvent,
  recipients: readonly EmailRecipientRow[],
): EmailDeliveryState {
  return {
    ...email,
    status: emailStatus(recipients.map(row => row.status)),
    providerMessageId: event.providerMessageId ?? email.providerMessageId,
    sentAt: email.sentAt ?? (event.type === 'sent' ? event.occurredAt : null),
    lastEventAt: later(event.occurredAt, email.lastEventAt),
    error: failureTypes.has(event.type) ? (event.detail ?? email.error) : email.error,
  }
}

function later(a: Instant, b: Instant): Instant {
  if (a > b) return a
  return b
}
