import { type RawBuilder, sql } from 'kysely'
import type { Tenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type DatabaseSchema, type EmailStatus, type Folder, folders } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { all, emailsByStatus, emailsByTime, isIndexedFor, isOf, messagesByFolder } from './table.ts'

/** What the first steps have led to so far. */
export type FirstSteps = Readonly<Record<'domain_ready' | 'mailbox' | 'first_in' | 'first_out' | 'key', boolean>>

const submitted: readonly EmailStatus[] = ['sent', 'delivered', 'bounced', 'complained']

/** Is there one of each? Reads at most a row of each index range, and of the domains, mailboxes and keys up to the first. */
export async function selectFirstSteps(db: Db, tenant: Tenant): Promise<FirstSteps> {
  const emails = submitted.map(status =>
    exists(sql`SELECT 1 FROM ${emailsByStatus(tenant)} WHERE ${isIndexedFor(tenant)} AND status = ${status}`),
  )
  const messages = folders.map(folder =>
    exists(sql`SELECT 1 FROM ${messagesByFolder(tenant)} WHERE ${isIndexedFor(tenant)} AND folder = ${folder}`),
  )
  const steps = {
    domain_ready: exists(sql`SELECT 1 FROM domains WHERE ${all([...isOf(tenant), sql`status = 'verified'`])}`),
    mailbox: exists(sql`SELECT 1 FROM mailboxes WHERE ${all(isOf(tenant))}`),
    first_in: sql.join(messages, sql` OR `),
    first_out: sql.join(emails, sql` OR `),
    key: exists(sql`SELECT 1 FROM api_keys WHERE ${all([...isOf(tenant), sql`revoked_at IS NULL`])}`),
  }
  const columns = Object.entries(steps).map(([name, step]) => sql`${step} AS ${sql.ref(name)}`)
  const { rows } = await sql<Readonly<Record<keyof FirstSteps, number>>>`SELECT ${sql.join(columns)}`.execute(db)
  const found = (name: keyof FirstSteps) => rows[0]?.[name] === 1
  return {
    domain_ready: found('domain_ready'),
    mailbox: found('mailbox'),
    first_in: found('first_in'),
    first_out: found('first_out'),
    key: found('key'),
  }
}

function exists(rows: RawBuilder<unknown>) {
  return sql`EXISTS (${rows})`
}

/** A message that was received lately. */
export interface RecentMessageRow {
  readonly id: Id<'msg'>
  readonly folder: Folder
  readonly received_at: Instant
  readonly from_address: string
  readonly subject: string
}

/** The messages received last, newest first, in whatever folder they are now. */
export async function selectRecentMessages(
  db: Db,
  tenant: Tenant,
  limit: number,
): Promise<readonly RecentMessageRow[]> {
  const parts = folders.map(
    folder => sql`(SELECT id, folder, received_at, from_address, subject FROM ${messagesByFolder(tenant)}
      WHERE ${isIndexedFor(tenant)} AND folder = ${folder} ORDER BY received_at DESC, id DESC LIMIT ${sql.lit(limit)})`,
  )
  const { rows } = await sql<RecentMessageRow>`SELECT id, folder, received_at, from_address, subject
    FROM (${sql.join(parts, sql` UNION ALL `)}) AS recent
    ORDER BY received_at DESC, id DESC LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

/** An email that was accepted lately. */
export interface RecentEmailRow {
  readonly id: Id<'eml'>
  readonly created_at: Instant
  readonly scheduled_at: Instant | null
  readonly subject: string
}

/** The emails accepted last, newest first. */
export async function selectRecentEmails(db: Db, tenant: Tenant, limit: number): Promise<readonly RecentEmailRow[]> {
  const { rows } = await sql<RecentEmailRow>`SELECT id, created_at, scheduled_at, subject FROM ${emailsByTime(tenant)}
    WHERE ${isIndexedFor(tenant)} ORDER BY created_at DESC LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

/** Something that happened to an email lately. */
export interface RecentEventRow {
  readonly id: Id<'evt'>
  readonly email_id: Id<'eml'>
  readonly type: DatabaseSchema['email_events']['type']
  readonly recipient: string | null
  readonly recorded_at: Instant
  readonly subject: string
}

/** Of the newest events of the instance so many are looked through for those of one organization. */
const maxScannedEvents = 2000

/**
 * The events of the organization's emails recorded last, newest first: of the newest 2,000 of the instance, and of the
 * organization's newest `limit` emails. What was recorded earlier, for an earlier email, may be missing: no index finds it.
 */
export async function selectRecentEvents(db: Db, tenant: Tenant, limit: number): Promise<readonly RecentEventRow[]> {
  const { rows: oldest } = await sql<{ readonly id: Id<'evt'> }>`SELECT id FROM email_events FORCE INDEX (PRIMARY)
    ORDER BY id DESC LIMIT 1 OFFSET ${sql.lit(maxScannedEvents - 1)}`.execute(db)
  const newest = sql`SELECT STRAIGHT_JOIN ${eventColumns} FROM email_events FORCE INDEX (PRIMARY)
    INNER JOIN emails ON emails.id = email_events.email_id
    WHERE email_events.id >= ${oldest[0]?.id ?? ''} AND email_events.organization_id = ${tenant.organizationId}
      ${ofBrand(tenant)} ORDER BY email_events.id DESC LIMIT ${sql.lit(limit)}`
  const newestEmails = sql`SELECT id, subject FROM ${emailsByTime(tenant)}
    WHERE ${isIndexedFor(tenant)} ORDER BY created_at DESC LIMIT ${sql.lit(limit)}`
  const ofNewestEmails = sql`SELECT STRAIGHT_JOIN ${eventColumns} FROM (${newestEmails}) AS emails
    INNER JOIN email_events ON email_events.email_id = emails.id
    ORDER BY email_events.id DESC LIMIT ${sql.lit(limit)}`
  const { rows } = await sql<RecentEventRow>`(${newest}) UNION (${ofNewestEmails})
    ORDER BY id DESC LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

const eventColumns = sql.raw(
  'email_events.id, email_events.email_id, email_events.type, email_events.recipient, email_events.recorded_at, emails.subject',
)

function ofBrand({ brandId }: Tenant) {
  return brandId === null ? sql`` : sql`AND emails.brand_id = ${brandId}`
}
