import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import type { EmailStatus } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** An email that a bounce address is for. */
export interface BouncedRecipientRow {
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  readonly domainId: Id<'dom'>
  /** The names of its domain's return path, whether or not their DNS records exist. */
  readonly hosts: readonly string[]
}

/** Undefined: there is no such email, or it has no recipient at that position. */
export async function selectBouncedRecipient(
  db: Db,
  emailId: Id<'eml'>,
  position: number,
): Promise<BouncedRecipientRow | undefined> {
  const rows = await db
    .selectFrom('emails')
    .innerJoin('email_recipients', 'email_recipients.email_id', 'emails.id')
    .leftJoin('domain_records', join =>
      join.onRef('domain_records.domain_id', '=', 'emails.domain_id').on('domain_records.purpose', '=', 'return_path'),
    )
    .select([
      'emails.organization_id as organizationId',
      'emails.brand_id as brandId',
      'emails.domain_id as domainId',
      'domain_records.name as host',
    ])
    .where('emails.id', '=', emailId)
    .where('email_recipients.position', '=', position)
    .execute()
  const [first] = rows
  if (!first) return undefined
  const { organizationId, brandId, domainId } = first
  return { organizationId, brandId, domainId, hosts: rows.flatMap(row => row.host ?? []) }
}

/** A recipient of a sent email. */
export interface SentRecipientRow {
  readonly position: number
  readonly email: string
  readonly status: EmailStatus
  /** The address in From. */
  readonly fromAddress: string
}

/** The recipients of an email, if one of these organizations sent it, in order. */
export async function selectSentRecipients(
  db: Db,
  organizationIds: readonly Id<'org'>[],
  emailId: Id<'eml'>,
): Promise<readonly SentRecipientRow[]> {
  if (organizationIds.length === 0) return []
  return await db
    .selectFrom('email_recipients')
    .innerJoin('emails', 'emails.id', 'email_recipients.email_id')
    .select([
      'email_recipients.position',
      'email_recipients.email',
      'email_recipients.status',
      'emails.from_address as fromAddress',
    ])
    .where('email_recipients.email_id', '=', emailId)
    .where('email_recipients.organization_id', 'in', organizationIds)
    .orderBy('email_recipients.position')
    .execute()
}

/** How many reports by mail are recorded of an email's recipient, counted to `most`. */
export async function selectReportCount(db: Db, emailId: Id<'eml'>, recipient: string, most: number): Promise<number> {
  const rows = await db
    .selectFrom('email_events')
    .select('id')
    .where('email_id', '=', emailId)
    .where('recipient', '=', recipient)
    .where('source', '=', 'dsn')
    .limit(sql.lit(most))
    .execute()
  return rows.length
}
