import { sql } from 'kysely'
import type { Instant } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import type { Id } from '../base/ids.ts'
import type { EmailStatus, Schema } from '../base/schema.ts'

const itemColumns = [
  'id',
  'organization_id',
  'brand_id',
  'domain_id',
  'created_at',
  'scheduled_at',
  'status',
  'from_header',
  'to_addresses',
  'cc_addresses',
  'subject',
  'tags',
  'template',
  'attachment_count',
  'last_event_at',
] as const

export type EmailItemRow = Pick<Schema['emails'], (typeof itemColumns)[number]>
export type EmailRow = Schema['emails']

/** Which emails of an organization are asked for. */
export interface EmailFilter {
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'> | null
  readonly status: EmailStatus | null
  readonly tag: { readonly name: string; readonly value: string } | null
  /** Without case. */
  readonly recipient: string | null
}

/** So many of the newest are looked through for one page: a rare tag costs no more than that. */
const maxLookedThrough = 10_000

/**
 * At most `limit` emails, newest first, accepted before `before`; and from where to go on: null when there are no more.
 * Where a filter finds little among many, a page may hold less than `limit`, and still say where to go on.
 */
export async function findEmails(
  db: Db,
  filter: EmailFilter,
  { before, limit }: { readonly before: Instant | null; readonly limit: number },
): Promise<{ readonly rows: readonly EmailItemRow[]; readonly nextBefore: Instant | null }> {
  const isFiltered = filter.status !== null || filter.tag !== null || filter.recipient !== null
  const end = isFiltered ? await findWindowEnd(db, filter, before) : null
  let query = scoped(db, filter, before).select(itemColumns)
  if (end !== null) query = query.where('created_at', '>=', end)
  if (filter.status !== null) query = query.where('status', '=', filter.status)
  if (filter.tag !== null) query = query.where(sql<boolean>`JSON_CONTAINS(tags, ${JSON.stringify([filter.tag])})`)
  const { recipient } = filter
  if (recipient !== null)
    query = query.where(where =>
      where.exists(
        where
          .selectFrom('email_recipients')
          .select('email_recipients.email_id')
          .whereRef('email_recipients.email_id', '=', 'emails.id')
          .where(sql<boolean>`LOWER(email_recipients.email) = ${recipient.toLowerCase()}`),
      ),
    )
  const rows = await query
    .orderBy('created_at', 'desc')
    .limit(sql.lit(limit + 1))
    .execute()
  const page = rows.slice(0, limit)
  return { rows: page, nextBefore: rows.length > limit ? (page.at(-1)?.created_at ?? null) : end }
}

function scoped(db: Db, { organizationId, brandId }: EmailFilter, before: Instant | null) {
  let query = db.selectFrom('emails').where('organization_id', '=', organizationId)
  if (brandId !== null) query = query.where('brand_id', '=', brandId)
  if (before !== null) query = query.where('created_at', '<', before)
  return query
}

/** The oldest email that this page looks at; null: all of them. */
async function findWindowEnd(db: Db, filter: EmailFilter, before: Instant | null): Promise<Instant | null> {
  const row = await scoped(db, filter, before)
    .select('created_at')
    .orderBy('created_at', 'desc')
    .limit(sql.lit(1))
    .offset(sql.lit(maxLookedThrough - 1))
    .executeTakeFirst()
  return row?.created_at ?? null
}

/** One email of the organization, whole. */
export async function findEmail(db: Db, organizationId: Id<'org'>, id: string): Promise<EmailRow | undefined> {
  return db
    .selectFrom('emails')
    .select([
      ...itemColumns,
      'api_key_id',
      'expires_at',
      'message_id',
      'thread_id',
      'from_address',
      'bcc_addresses',
      'reply_to',
      'metadata',
      'attachments',
      'blob_id',
      'provider',
      'provider_message_id',
      'sent_at',
      'error',
    ])
    .where('id', '=', id as Id<'eml'>)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

export type EventRow = Omit<Schema['email_events'], 'repeat_key' | 'organization_id'>

/** What happened to an email, oldest first. */
export async function findEvents(db: Db, emailId: Id<'eml'>): Promise<readonly EventRow[]> {
  return db
    .selectFrom('email_events')
    .select([
      'id',
      'email_id',
      'recipient',
      'type',
      'occurred_at',
      'recorded_at',
      'source',
      'smtp_code',
      'enhanced_code',
      'detail',
      'bounce',
      'extra',
    ])
    .where('email_id', '=', emailId)
    .orderBy('occurred_at')
    .orderBy('recorded_at')
    .orderBy('id')
    .execute()
}

/** The messages received in answer to an email, oldest first. */
export async function findReplies(
  db: Db,
  organizationId: Id<'org'>,
  emailId: Id<'eml'>,
): Promise<readonly Id<'msg'>[]> {
  const rows = await db
    .selectFrom('messages')
    .select('id')
    .where('in_reply_to_email_id', '=', emailId)
    .where('organization_id', '=', organizationId)
    .orderBy('received_at')
    .orderBy('id')
    .execute()
  return rows.map(row => row.id)
}
