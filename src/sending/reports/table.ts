import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { lookupKey } from '../emails/email-index.ts'

/** A sent email that a report is about. */
export interface ReportedEmail {
  readonly id: Id<'eml'>
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  readonly acceptedAt: Instant
  /** When it was first taken by the provider; null: as far as is known, it was not. */
  readonly sentAt: Instant | null
}

/** Those of the emails that exist. */
export async function selectReportedEmails(db: Db, ids: readonly Id<'eml'>[]): Promise<readonly ReportedEmail[]> {
  if (ids.length === 0) return []
  return db
    .selectFrom('emails')
    .select([
      'id',
      'organization_id as organizationId',
      'brand_id as brandId',
      'created_at as acceptedAt',
      'sent_at as sentAt',
    ])
    .where('id', 'in', ids)
    .execute()
}

export type EarlierBounce = Pick<DatabaseSchema['email_events'], 'enhanced_code' | 'smtp_code' | 'detail' | 'bounce'>

/** So many of a recipient's latest emails are searched for earlier bounces. */
const maxEmails = 200

/** The bounces of a brand's emails to a recipient that happened by `until`. */
export async function selectEarlierBounces(
  db: Db,
  { organizationId, brandId }: ReportedEmail,
  recipient: string,
  until: Instant,
): Promise<readonly EarlierBounce[]> {
  const lookup = lookupKey(organizationId, { kind: 'recipient', email: recipient })
  const emails = db
    .selectFrom('email_lookups')
    .select('email_id')
    .where('lookup', '=', lookup)
    .where('brand_id', '=', brandId)
    .orderBy('created_at', 'desc')
    .limit(sql.lit(maxEmails))
    .as('sent')
  return db
    .selectFrom(emails)
    .innerJoin('email_events', 'email_events.email_id', 'sent.email_id')
    .select(['email_events.enhanced_code', 'email_events.smtp_code', 'email_events.detail', 'email_events.bounce'])
    .where('email_events.organization_id', '=', organizationId)
    .where('email_events.type', '=', 'bounced')
    .where('email_events.recipient', '=', recipient)
    .where('email_events.occurred_at', '<=', until)
    .execute()
}

/** Stores a token that may be used once only: `new`, used `again` with the same content, or with `other` content. */
export async function insertToken(db: Db, row: DatabaseSchema['provider_tokens']): Promise<'new' | 'again' | 'other'> {
  if ((await insertRows(db, 'provider_tokens', [row], 'ignore')) > 0) return 'new'
  const known = await db
    .selectFrom('provider_tokens')
    .select('content_hash')
    .where('token_hash', '=', row.token_hash)
    .executeTakeFirst()
  return known?.content_hash.equals(row.content_hash) ? 'again' : 'other'
}

/** Deletes at most `limit` tokens from before `until`; gives how many. */
export async function deleteTokens(db: Db, until: Instant, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('provider_tokens')
    .where('created_at', '<', until)
    .limit(sql.lit(limit))
    .executeTakeFirst()
  return Number(numDeletedRows)
}
