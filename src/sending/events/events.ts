import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type EmailStatus, type Schema, toJson } from '../../base/database/schema.ts'
import { type Id, newId } from '../../base/ids.ts'
import { noteWireIds } from './provider-message-id.ts'
import { emailStatus, type Known, takesEffect } from './status.ts'
import {
  type EventfulEmail,
  type EventRow,
  findRecipients,
  findRepeats,
  insertEvents,
  lockEmails,
  type RecipientRow,
  updateEmails,
  updateRecipients,
} from './table.ts'

/** Whom and what a bounce is about, and whether the recipient is suppressed because of it. */
export interface Bounce {
  readonly type: 'permanent' | 'transient' | 'undetermined'
  readonly scope: 'recipient' | 'infrastructure'
  readonly suppressed: boolean
}

/** Something that happened to an email, with the evidence for it. */
export interface DeliveryEvent {
  readonly emailId: Id<'eml'>
  /** The recipient's address; null: the email as a whole (`replied`, or a status that all its recipients take). */
  readonly recipient: string | null
  readonly type: EmailStatus | 'replied'
  readonly occurredAt: Instant
  readonly source: Schema['email_events']['source']
  readonly smtpCode?: number | null
  readonly enhancedCode?: string | null
  /** The reply's text, or what happened, on one line. */
  readonly detail?: string | null
  readonly bounce?: Bounce | null
  readonly extra?: Readonly<Record<string, unknown>>
  /** 32 bytes, the same for an event that its source repeats: it is recorded once. */
  readonly repeatKey?: Buffer | null
  /** The provider's own name for the email, when this event tells it. */
  readonly providerMessageId?: string | null
  /** The Message-ID that recipients see, without angle brackets, when this event tells it. */
  readonly wireMessageId?: string | null
}

/**
 * Records events and moves the statuses of their recipients and emails on, by the table in status.ts. Every status changes
 * here and nowhere else. Runs in the caller's transaction, in which the emails stay locked. One answer for each event:
 * false when it was recorded before, or its email is not there.
 */
export async function recordEvents(
  db: Db,
  events: readonly DeliveryEvent[],
  now: Instant,
): Promise<readonly boolean[]> {
  if (events.length === 0) return []
  const ids = [...new Set(events.map(event => event.emailId))].sort()
  const emails = new Map((await lockEmails(db, ids)).map(email => [email.id, email]))
  const recipients = Map.groupBy(await findRecipients(db, ids), row => row.email_id)
  const seen = new Set(
    await findRepeats(
      db,
      events.flatMap(event => event.repeatKey ?? []),
    ),
  )
  const isNew = events.map(event => emails.has(event.emailId) && isFirst(event, seen))
  const rows: EventRow[] = []
  const changed = new Map<string, RecipientRow>()
  for (const [i, event] of events.entries()) {
    const email = emails.get(event.emailId)
    if (!email || !isNew[i]) continue
    rows.push(eventRow(event, email, now))
    const of = recipients.get(event.emailId) ?? []
    recipients.set(
      event.emailId,
      of.map(row => afterEvent(row, event, changed)),
    )
    emails.set(event.emailId, emailAfter(email, event, recipients.get(event.emailId) ?? []))
  }
  await insertEvents(db, rows)
  await updateRecipients(db, [...changed.values()])
  await updateEmails(db, Array.from(new Set(rows.map(row => row.email_id)), id => emails.get(id)).filter(isPresent))
  const replies = await noteWireIds(
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

function isFirst(event: DeliveryEvent, seen: Set<string>): boolean {
  if (!event.repeatKey) return true
  const key = event.repeatKey.toString('hex')
  if (seen.has(key)) return false
  seen.add(key)
  return true
}

function eventRow(event: DeliveryEvent, email: EventfulEmail, now: Instant): EventRow {
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

function afterEvent(row: RecipientRow, event: DeliveryEvent, changed: Map<string, RecipientRow>): RecipientRow {
  if (event.type === 'replied') return row
  if (event.recipient !== null && event.recipient.toLowerCase() !== row.email.toLowerCase()) return row
  const told: Known = { status: event.type, at: event.occurredAt, isReported: reports.has(event.source) }
  const known: Known = { status: row.status, at: row.updated_at, isReported: row.reported === 1 }
  if (!takesEffect(told, known)) return row
  const next: RecipientRow = {
    ...row,
    status: event.type,
    smtp_code: event.smtpCode ?? null,
    enhanced_code: event.enhancedCode ?? null,
    detail: event.detail ?? null,
    updated_at: event.occurredAt,
    reported: told.isReported ? 1 : 0,
  }
  changed.set(`${row.email_id} ${row.position}`, next)
  return next
}

const reports: ReadonlySet<DeliveryEvent['source']> = new Set(['dsn', 'provider_webhook'])
const endings: ReadonlySet<DeliveryEvent['type']> = new Set(['failed', 'rejected', 'bounced'])

function emailAfter(email: EventfulEmail, event: DeliveryEvent, recipients: readonly RecipientRow[]): EventfulEmail {
  return {
    ...email,
    status: emailStatus(recipients.map(row => row.status)),
    providerMessageId: event.providerMessageId ?? email.providerMessageId,
    sentAt: email.sentAt ?? (event.type === 'sent' ? event.occurredAt : null),
    lastEventAt: later(event.occurredAt, email.lastEventAt),
    error: endings.has(event.type) ? (event.detail ?? email.error) : email.error,
  }
}

function later(a: Instant, b: Instant): Instant {
  if (a > b) return a
  return b
}
