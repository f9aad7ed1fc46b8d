import type { Selectable } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema, EmailStatus } from '../../base/database/schema.ts'
import { executeUpdate, padToPowerOfTwo, placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'
import type { DeliveryEvent } from './delivery-event.ts'

/** What the events of an email change, and what their recording needs to know of it. */
export interface EmailDeliveryState {
  readonly id: Id<'eml'>
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  readonly messageId: string
  readonly wireMessageId: string | null
  readonly status: EmailStatus
  readonly providerMessageId: string | null
  readonly sentAt: Instant | null
  readonly lastEventAt: Instant
  readonly error: string | null
  readonly subject: string
  readonly tags: DatabaseSchema['emails']['tags']
  readonly metadata: DatabaseSchema['emails']['metadata']
}

export type EmailRecipientRow = Selectable<DatabaseSchema['email_recipients']>
export type EmailEventRow = DatabaseSchema['email_events']

/** Locks these emails, in one order, until the transaction ends; those that do not exist are left out. */
export async function lockEmailStates(db: Db, ids: readonly Id<'eml'>[]): Promise<readonly EmailDeliveryState[]> {
  const padded = padToPowerOfTwo(ids)
  const text = `SELECT id, organization_id AS organizationId, brand_id AS brandId, message_id AS messageId,
      wire_message_id AS wireMessageId, status, provider_message_id AS providerMessageId, sent_at AS sentAt,
      last_event_at AS lastEventAt, error, subject, tags, metadata
    FROM emails WHERE id IN (${placeholders(padded)}) ORDER BY id FOR UPDATE`
  return selectRows<EmailDeliveryState>(db, text, padded)
}

/** The recipients of these emails, in order. */
export async function selectRecipients(db: Db, ids: readonly Id<'eml'>[]): Promise<readonly EmailRecipientRow[]> {
  const padded = padToPowerOfTwo(ids)
  const text = `SELECT email_id, position, organization_id, email, type, status, smtp_code, enhanced_code, detail, updated_at,
      reported
    FROM email_recipients WHERE email_id IN (${placeholders(padded)}) ORDER BY email_id, position`
  return selectRows<EmailRecipientRow>(db, text, padded)
}

/** Which of these repeat keys are recorded already, as hexadecimal text. */
export async function selectRepeatKeys(db: Db, repeatKeys: readonly Buffer[]): Promise<ReadonlySet<string>> {
  if (repeatKeys.length === 0) return new Set()
  const rows = await db.selectFrom('email_events').select('repeat_key').where('repeat_key', 'in', repeatKeys).execute()
  return new Set(rows.map(row => row.repeat_key?.toString('hex') ?? ''))
}

/** Which of these events, which differ in their time, recipient or type, are recorded already. */
export async function selectRecordedEvents(
  db: Db,
  events: readonly DeliveryEvent[],
): Promise<ReadonlySet<DeliveryEvent>> {
  if (events.length === 0) return new Set()
  const rows = await db
    .selectFrom('email_events')
    .select(['email_id', 'recipient', 'type', 'occurred_at'])
    .where(
      'email_id',
      'in',
      events.map(event => event.emailId),
    )
    .execute()
  return new Set(
    events.filter(event =>
      rows.some(
        row =>
          row.email_id === event.emailId &&
          row.recipient === event.recipient &&
          row.type === event.type &&
          row.occurred_at === event.occurredAt,
      ),
    ),
  )
}

export async function insertEvents(db: Db, rows: readonly EmailEventRow[]): Promise<void> {
  await insertRows(db, 'email_events', rows)
}

/** Updates the status of existing recipients, with its evidence. */
export async function updateRecipients(db: Db, rows: readonly EmailRecipientRow[]): Promise<void> {
  await insertRows(
    db,
    'email_recipients',
    rows,
    `ON DUPLICATE KEY UPDATE status = VALUES(status), smtp_code = VALUES(smtp_code),
      enhanced_code = VALUES(enhanced_code), detail = VALUES(detail), updated_at = VALUES(updated_at),
      reported = VALUES(reported)`,
  )
}

/** Records the Message-ID that recipients see of an email. */
export async function updateWireMessageId(db: Db, id: Id<'eml'>, wireMessageId: string): Promise<void> {
  await db.updateTable('emails').set({ wire_message_id: wireMessageId }).where('id', '=', id).execute()
}

/** Updates what events changed of existing emails. */
export async function updateEmails(db: Db, emails: readonly EmailDeliveryState[]): Promise<void> {
  if (emails.length === 0) return
  const padded = padToPowerOfTwo(emails)
  const ids = padded.map(email => email.id)
  const parameters: (string | null)[] = []
  // Without the query builder, which would cost more than the update: this is on the relay's hot path.
  const caseOf = (column: string, value: (email: EmailDeliveryState) => string | null) => {
    for (const email of padded) parameters.push(email.id, value(email))
    return `${column} = CASE id ${ids.map(() => 'WHEN ? THEN ?').join(' ')} END`
  }
  const changes = [
    caseOf('status', email => email.status),
    caseOf('provider_message_id', email => email.providerMessageId),
    caseOf('sent_at', email => email.sentAt),
    caseOf('last_event_at', email => email.lastEventAt),
    caseOf('error', email => email.error),
  ]
  const text = `UPDATE emails SET ${changes.join(', ')} WHERE id IN (${ids.map(() => '?').join(', ')})`
  await executeUpdate(db, text, [...parameters, ...ids])
}
