import { sql } from 'kysely'
import type { Instant } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import type { Id } from '../base/ids.ts'
import type { EmailStatus, Schema } from '../base/schema.ts'

/** An email as the recording of its events needs it. */
export interface EventfulEmail {
  readonly id: Id<'eml'>
  readonly organizationId: Id<'org'>
  readonly status: EmailStatus
  readonly providerMessageId: string | null
  readonly sentAt: Instant | null
  readonly lastEventAt: Instant
  readonly error: string | null
}

export type RecipientRow = Schema['email_recipients']
export type EventRow = Schema['email_events']

/** Locks these emails, in one order, until the transaction ends; those that are not there are left out. */
export async function lockEmails(db: Db, ids: readonly Id<'eml'>[]): Promise<readonly EventfulEmail[]> {
  return db
    .selectFrom('emails')
    .select([
      'id',
      'organization_id as organizationId',
      'status',
      'provider_message_id as providerMessageId',
      'sent_at as sentAt',
      'last_event_at as lastEventAt',
      'error',
    ])
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()
}

/** The recipients of these emails, in order. */
export async function findRecipients(db: Db, ids: readonly Id<'eml'>[]): Promise<readonly RecipientRow[]> {
  return db
    .selectFrom('email_recipients')
    .select([
      'email_id',
      'position',
      'organization_id',
      'email',
      'type',
      'status',
      'smtp_code',
      'enhanced_code',
      'detail',
      'updated_at',
    ])
    .where('email_id', 'in', ids)
    .orderBy('email_id')
    .orderBy('position')
    .execute()
}

/** Which of these repeated events are recorded already, as hexadecimal text. */
export async function findRepeats(db: Db, repeatKeys: readonly Buffer[]): Promise<ReadonlySet<string>> {
  if (repeatKeys.length === 0) return new Set()
  const rows = await db.selectFrom('email_events').select('repeat_key').where('repeat_key', 'in', repeatKeys).execute()
  return new Set(rows.map(row => row.repeat_key?.toString('hex') ?? ''))
}

export async function insertEvents(db: Db, rows: readonly EventRow[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('email_events').values(rows).execute()
}

/** Writes the status of recipients that are there, with what it is based on. */
export async function updateRecipients(db: Db, rows: readonly RecipientRow[]): Promise<void> {
  if (rows.length === 0) return
  await db
    .insertInto('email_recipients')
    .values(rows)
    .onDuplicateKeyUpdate({
      status: sql`VALUES(status)`,
      smtp_code: sql`VALUES(smtp_code)`,
      enhanced_code: sql`VALUES(enhanced_code)`,
      detail: sql`VALUES(detail)`,
      updated_at: sql`VALUES(updated_at)`,
    })
    .execute()
}

/** Writes what events changed of emails that are there. */
export async function updateEmails(db: Db, emails: readonly EventfulEmail[]): Promise<void> {
  if (emails.length === 0) return
  const each = (value: (email: EventfulEmail) => string | null) =>
    sql<never>`CASE id ${sql.join(
      emails.map(email => sql`WHEN ${email.id} THEN ${value(email)}`),
      sql` `,
    )} END`
  await db
    .updateTable('emails')
    .set({
      status: each(email => email.status),
      provider_message_id: each(email => email.providerMessageId),
      sent_at: each(email => email.sentAt),
      last_event_at: each(email => email.lastEventAt),
      error: each(email => email.error),
    })
    .where(
      'id',
      'in',
      emails.map(email => email.id),
    )
    .execute()
}
