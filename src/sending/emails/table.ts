import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Tenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema, EmailStatus } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { lookupKey } from './email-index.ts'

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

export type EmailItemRow = Pick<DatabaseSchema['emails'], (typeof itemColumns)[number]>
export type EmailDetailRow = Omit<Selectable<DatabaseSchema['emails']>, 'unsubscribable'>

/** Which emails a list shows. */
export interface EmailFilter extends Tenant {
  readonly status: EmailStatus | null
  readonly tag: { readonly name: string; readonly value: string } | null
  /** Without case. */
  readonly recipient: string | null
}

/** With several filters, so many emails are scanned for one page: a page that few match costs no more than that. */
const maxScanned = 10_000

/**
 * At most `limit` emails, newest first, accepted before `before`; and the `before` of the next page, null when there are no
 * more. One filter, of a brand or not, is answered by an index. With several, one is, and the others are checked on what it
 * finds: when few of many match, a page may have fewer than `limit` emails and still have a next page.
 */
export async function selectEmailPage(
  db: Db,
  filter: EmailFilter,
  { before, limit }: { readonly before: Instant | null; readonly limit: number },
): Promise<{ readonly rows: readonly EmailItemRow[]; readonly nextBefore: Instant | null }> {
  const [first, ...others] = lookupsFor(filter)
  const isScan = first !== undefined && (others.length > 0 || filter.status !== null)
  const end = isScan ? await selectEmailWindowEnd(db, first, filter.brandId, before) : null
  const query = first ? byLookups([first, ...others], filter, { before, end }) : byColumns(filter, before)
  const { rows } = await sql<EmailItemRow>`${query} LIMIT ${sql.lit(limit + 1)}`.execute(db)
  const page = rows.slice(0, limit)
  return { rows: page, nextBefore: rows.length > limit ? (page.at(-1)?.created_at ?? null) : end }
}

/** The keys of the filters that email_lookups answers, as a rule the most selective first. */
function lookupsFor({ organizationId, tag, recipient }: EmailFilter): readonly Buffer[] {
  return [
    ...(recipient === null ? [] : [lookupKey(organizationId, { kind: 'recipient', email: recipient })]),
    ...(tag === null ? [] : [lookupKey(organizationId, { kind: 'tag', ...tag })]),
  ]
}

const columns = sql.join(itemColumns.map(column => sql.ref(`emails.${column}`)))

function all(conditions: readonly RawBuilder<unknown>[]) {
  return sql.join(conditions, sql` AND `)
}

// The indexes are forced: left to choose, MariaDB 10.11 goes through all that is newer than `before` (it prefers the
// equal part of an index alone to a range of its order), and through all of an organization for a rare status.

/** By one of the indexes on organization or brand, with the status or without. */
function byColumns({ organizationId, brandId, status }: EmailFilter, before: Instant | null) {
  const index =
    status === null
      ? sql.raw(brandId === null ? 'emails_created' : 'emails_brand')
      : sql.raw(brandId === null ? 'emails_status' : 'emails_brand_status')
  const conditions = [
    sql`organization_id = ${organizationId}`,
    ...(brandId === null ? [] : [sql`brand_id = ${brandId}`]),
    ...(status === null ? [] : [sql`status = ${status}`]),
    ...(before === null ? [] : [sql`created_at < ${before}`]),
  ]
  return sql`SELECT ${columns} FROM emails FORCE INDEX (${index}) WHERE ${all(conditions)}
    ORDER BY emails.created_at DESC`
}

/** STRAIGHT_JOIN: from the lookup to the email and never the other way, whatever the statistics of either. */
function byLookups(
  [first, ...others]: readonly [Buffer, ...Buffer[]],
  { organizationId, brandId, status }: EmailFilter,
  { before, end }: { readonly before: Instant | null; readonly end: Instant | null },
) {
  const conditions = [
    sql`found.lookup = ${first}`,
    sql`emails.organization_id = ${organizationId}`,
    ...(brandId === null ? [] : [sql`found.brand_id = ${brandId}`]),
    ...(status === null ? [] : [sql`emails.status = ${status}`]),
    ...(before === null ? [] : [sql`found.created_at < ${before}`]),
    ...(end === null ? [] : [sql`found.created_at >= ${end}`]),
    ...others.map(
      other => sql`EXISTS (SELECT 1 FROM email_lookups also WHERE also.lookup = ${other}
        AND also.created_at = found.created_at AND also.email_id = found.email_id)`,
    ),
  ]
  return sql`SELECT STRAIGHT_JOIN ${columns} FROM email_lookups found FORCE INDEX (${lookupIndex(brandId)})
    INNER JOIN emails ON emails.id = found.email_id WHERE ${all(conditions)} ORDER BY found.created_at DESC`
}

function lookupIndex(brandId: Id<'brd'> | null) {
  return sql.raw(brandId === null ? 'PRIMARY' : 'email_lookups_brand')
}

/** When the last email that this page scans was accepted; null: it scans to the end. */
async function selectEmailWindowEnd(
  db: Db,
  lookup: Buffer,
  brandId: Id<'brd'> | null,
  before: Instant | null,
): Promise<Instant | null> {
  const conditions = [
    sql`lookup = ${lookup}`,
    ...(brandId === null ? [] : [sql`brand_id = ${brandId}`]),
    ...(before === null ? [] : [sql`created_at < ${before}`]),
  ]
  const { rows } = await sql<{ readonly created_at: Instant }>`SELECT created_at
    FROM email_lookups FORCE INDEX (${lookupIndex(brandId)}) WHERE ${all(conditions)}
    ORDER BY created_at DESC LIMIT 1 OFFSET ${sql.lit(maxScanned - 1)}`.execute(db)
  return rows[0]?.created_at ?? null
}

export async function selectEmail(db: Db, organizationId: Id<'org'>, id: string): Promise<EmailDetailRow | undefined> {
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
      'content_purged_at',
      'attachments_purged_at',
      'provider',
      'provider_message_id',
      'wire_message_id',
      'sent_at',
      'error',
      'source',
    ])
    .where('id', '=', id as Id<'eml'>)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

/** The newest emails of a thread, at most `limit`. */
export async function selectThreadEmails(
  db: Db,
  { organizationId, brandId }: Tenant,
  threadId: string,
  limit: number,
): Promise<readonly EmailItemRow[]> {
  let query = db
    .selectFrom('emails')
    .select(itemColumns)
    .where('thread_id', '=', threadId)
    .where('organization_id', '=', organizationId)
  if (brandId !== null) query = query.where('brand_id', '=', brandId)
  return query.orderBy('created_at', 'desc').limit(limit).execute()
}

/** The size of the message of an email, in bytes. */
export async function selectContentSize(db: Db, organizationId: Id<'org'>, blobId: Id<'blb'>): Promise<number> {
  const row = await db
    .selectFrom('blobs')
    .select('size')
    .where('id', '=', blobId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return Number(row?.size ?? 0)
}

export type EmailEventItemRow = Omit<DatabaseSchema['email_events'], 'repeat_key' | 'organization_id'>

/** The events of an email, oldest first. */
export async function selectEmailEvents(db: Db, emailId: Id<'eml'>): Promise<readonly EmailEventItemRow[]> {
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

/** The ids of the received replies to an email, oldest first. */
export async function selectReplyIds(
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
