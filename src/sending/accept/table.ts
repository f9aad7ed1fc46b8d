import type { Insertable } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import { padToPowerOfTwo, placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'
import { emailLookupRows } from '../emails/email-index.ts'

/** A registered domain that emails may come from. */
export interface SendingDomain {
  readonly id: Id<'dom'>
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  readonly domain: string
  readonly status: DatabaseSchema['domains']['status']
}

/** The domains of these names, each in its organization; those not registered are left out. */
export async function selectDomainsByName(
  db: Db,
  names: readonly { readonly organizationId: Id<'org'>; readonly domain: string }[],
): Promise<readonly SendingDomain[]> {
  if (names.length === 0) return []
  const byOrganization = Array.from(
    Map.groupBy(names, name => name.organizationId),
    ([organizationId, ofOrganization]) =>
      [organizationId, padToPowerOfTwo([...new Set(ofOrganization.map(name => name.domain))])] as const,
  )
  const condition = byOrganization
    .map(([, domains]) => `(organization_id = ? AND domain IN (${placeholders(domains)}))`)
    .join(' OR ')
  return await selectRows<SendingDomain>(
    db,
    `SELECT id, organization_id AS organizationId, brand_id AS brandId, domain, status FROM domains WHERE ${condition}`,
    byOrganization.flatMap(([organizationId, domains]) => [organizationId, ...domains]),
  )
}

/** Whether an email exists. Waits until a transaction that inserts it has ended. */
export async function lockEmail(db: Db, id: Id<'eml'>): Promise<boolean> {
  return (await selectRows(db, 'SELECT id FROM emails WHERE id = ? FOR UPDATE', [id])).length > 0
}

/** These domains as they are now, locked in share mode, with their organizations' plans and their brands' pauses. */
export async function lockDomains(db: Db, ids: readonly Id<'dom'>[]): Promise<readonly LockedDomain[]> {
  const domainIds = padToPowerOfTwo([...new Set(ids)].sort())
  return await selectRows<LockedDomain>(
    db,
    `SELECT d.id, d.status, o.id AS organizationId, o.plan, p.reason AS pauseReason FROM domains d
     INNER JOIN organizations o ON o.id = d.organization_id
     LEFT JOIN brand_pauses p ON p.brand_id = d.brand_id
     WHERE d.id IN (${placeholders(domainIds)}) LOCK IN SHARE MODE`,
    domainIds,
  )
}

interface LockedDomain {
  readonly id: Id<'dom'>
  readonly status: DatabaseSchema['domains']['status']
  readonly organizationId: Id<'org'>
  readonly plan: DatabaseSchema['organizations']['plan']
  /** Why the brand's sending is paused; null: it is not. */
  readonly pauseReason: string | null
}

/** A recipient who may be on a brand's suppression list. */
export interface SuppressionCandidate {
  readonly brandId: Id<'brd'>
  /** Lower case. */
  readonly email: string
}

/** A recipient who is on it. */
export interface SuppressedRecipient extends SuppressionCandidate {
  /** True: they only unsubscribed, and still get emails without an unsubscribe link. */
  readonly isUnsubscribed: boolean
}

/** The candidates who are suppressed at `now`. */
export async function selectSuppressed(
  db: Db,
  candidates: readonly SuppressionCandidate[],
  now: Instant,
): Promise<readonly SuppressedRecipient[]> {
  if (candidates.length === 0) return []
  const byBrand = Array.from(
    Map.groupBy(candidates, candidate => candidate.brandId),
    ([brandId, ofBrand]) =>
      [brandId, padToPowerOfTwo([...new Set(ofBrand.map(candidate => candidate.email))])] as const,
  )
  const condition = byBrand.map(([, emails]) => `(brand_id = ? AND email IN (${placeholders(emails)}))`).join(' OR ')
  const rows = await selectRows<SuppressionCandidate & { readonly isExpired: 0 | 1 | null; readonly reason: string }>(
    db,
    `SELECT brand_id AS brandId, email, reason, expires_at <= ? AS isExpired FROM suppressions
     WHERE (${condition}) AND (expires_at IS NULL OR expires_at > ? OR unsubscribed_at IS NOT NULL)`,
    [now, ...byBrand.flatMap(([brandId, emails]) => [brandId, ...emails]), now],
  )
  return rows.map(({ brandId, email, reason, isExpired }) => ({
    brandId,
    email,
    isUnsubscribed: reason === 'unsubscribe' || isExpired === 1,
  }))
}

/** All rows of one accepted email. */
export interface EmailRows {
  readonly email: Insertable<DatabaseSchema['emails']>
  readonly recipients: readonly Insertable<DatabaseSchema['email_recipients']>[]
  readonly events: readonly DatabaseSchema['email_events'][]
  readonly outbox: readonly Insertable<DatabaseSchema['outbox']>[]
  /** null or absent: the email carries no unsubscribe link. */
  readonly unsubscribeLink?: DatabaseSchema['unsubscribe_links'] | null
}

/** Inserts accepted emails. @throws a duplicate on `emails_created` when another email has the created_at of one. */
export async function insertEmails(db: Db, emails: readonly EmailRows[]): Promise<void> {
  await Promise.all([
    insertRows(
      db,
      'emails',
      emails.map(email => email.email),
    ),
    insertInChunks(
      db,
      'email_recipients',
      emails.flatMap(email => email.recipients),
    ),
    insertInChunks(
      db,
      'email_events',
      emails.flatMap(email => email.events),
    ),
    insertInChunks(
      db,
      'outbox',
      emails.flatMap(email => email.outbox),
    ),
    insertInChunks(
      db,
      'email_lookups',
      emails.flatMap(email => emailLookupRows(email.email, email.recipients)),
    ),
    insertInChunks(
      db,
      'unsubscribe_links',
      emails.flatMap(email => email.unsubscribeLink ?? []),
    ),
  ])
}

const rowsPerInsert = 256

type EmailTable = 'email_recipients' | 'email_events' | 'outbox' | 'email_lookups' | 'unsubscribe_links'

/** A statement may have at most 65,535 values. */
async function insertInChunks<Table extends EmailTable>(
  db: Db,
  table: Table,
  rows: Parameters<typeof insertRows<Table>>[2],
): Promise<void> {
  for (let i = 0; i < rows.length; i += rowsPerInsert) await insertRows(db, table, rows.slice(i, i + rowsPerInsert))
}

/**
 * How many emails of a domain are still to be sent, to all or some of their recipients. Their status does not tell: an email
 * is `bounced` as soon as one recipient is, and `delayed` also when another server reports so later.
 */
export async function countUnsent(db: Db, domainId: Id<'dom'>): Promise<number> {
  const row = await db
    .selectFrom('outbox')
    .innerJoin('emails', 'emails.id', 'outbox.email_id')
    .select(({ fn }) => fn.count<number>('outbox.email_id').distinct().as('count'))
    .where('emails.domain_id', '=', domainId)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}
