import { type Insertable, sql } from 'kysely'
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
    ([organizationId, of]) => [organizationId, padToPowerOfTwo([...new Set(of.map(name => name.domain))])] as const,
  )
  const either = byOrganization
    .map(([, of]) => `(organization_id = ? AND domain IN (${placeholders(of)}))`)
    .join(' OR ')
  return await selectRows<SendingDomain>(
    db,
    `SELECT id, organization_id AS organizationId, brand_id AS brandId, domain, status FROM domains WHERE ${either}`,
    byOrganization.flatMap(([organizationId, of]) => [organizationId, ...of]),
  )
}

/** These domains as they are now, with their organizations' plans; none is deleted before the transaction ends. */
export async function lockDomains(db: Db, ids: readonly Id<'dom'>[]): Promise<readonly LockedDomain[]> {
  const wanted = padToPowerOfTwo([...new Set(ids)].sort())
  return await selectRows<LockedDomain>(
    db,
    `SELECT d.id, d.status, o.id AS organizationId, o.plan, p.reason AS pauseReason FROM domains d
     INNER JOIN organizations o ON o.id = d.organization_id
     LEFT JOIN brand_pauses p ON p.brand_id = d.brand_id
     WHERE d.id IN (${placeholders(wanted)}) LOCK IN SHARE MODE`,
    wanted,
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

/** Someone who may be on a brand's suppression list. */
export interface SuppressionCandidate {
  readonly brandId: Id<'brd'>
  /** Lower case. */
  readonly email: string
}

/** Someone who is on a list. */
export interface SuppressedRecipient extends SuppressionCandidate {
  /** True: they only unsubscribed, and still get what cannot be unsubscribed from. */
  readonly isUnsubscribed: boolean
}

/** Those who are on the list at `now`. */
export async function selectSuppressed(
  db: Db,
  candidates: readonly SuppressionCandidate[],
  now: Instant,
): Promise<readonly SuppressedRecipient[]> {
  if (candidates.length === 0) return []
  const byBrand = Array.from(
    Map.groupBy(candidates, candidate => candidate.brandId),
    ([brandId, of]) =>
      [brandId, padToPowerOfTwo([...new Set(of.map(suppressionCandidate => suppressionCandidate.email))])] as const,
  )
  const either = byBrand.map(([, emails]) => `(brand_id = ? AND email IN (${placeholders(emails)}))`).join(' OR ')
  const rows = await selectRows<SuppressionCandidate & { readonly isOver: 0 | 1 | null; readonly reason: string }>(
    db,
    `SELECT brand_id AS brandId, email, reason, expires_at <= ? AS isOver FROM suppressions
     WHERE (${either}) AND (expires_at IS NULL OR expires_at > ? OR unsubscribed_at IS NOT NULL)`,
    [now, ...byBrand.flatMap(([brandId, emails]) => [brandId, ...emails]), now],
  )
  return rows.map(({ brandId, email, reason, isOver }) => ({
    brandId,
    email,
    isUnsubscribed: reason === 'unsubscribe' || isOver === 1,
  }))
}

/** All that one email leaves in the database when it is accepted. */
export interface EmailRows {
  readonly email: Insertable<DatabaseSchema['emails']>
  readonly recipients: readonly Insertable<DatabaseSchema['email_recipients']>[]
  readonly events: readonly DatabaseSchema['email_events'][]
  readonly outbox: readonly Insertable<DatabaseSchema['outbox']>[]
  /** Where it was sent with one. */
  readonly unsubscribeLink?: DatabaseSchema['unsubscribe_links'] | null
}

/** Writes accepted emails. @throws a duplicate on `emails_created` when one's created_at is taken. */
export async function insertEmails(db: Db, emails: readonly EmailRows[]): Promise<void> {
  await insertRows(
    db,
    'emails',
    emails.map(email => email.email),
  )
  await insertInParts(
    db,
    'email_recipients',
    emails.flatMap(email => email.recipients),
  )
  await insertInParts(
    db,
    'email_events',
    emails.flatMap(email => email.events),
  )
  await insertInParts(
    db,
    'outbox',
    emails.flatMap(email => email.outbox),
  )
  await insertInParts(
    db,
    'email_lookups',
    emails.flatMap(email => emailLookupRows(email.email, email.recipients)),
  )
  await insertInParts(
    db,
    'unsubscribe_links',
    emails.flatMap(email => email.unsubscribeLink ?? []),
  )
}

const maxRows = 256

type EmailTable = 'email_recipients' | 'email_events' | 'outbox' | 'email_lookups' | 'unsubscribe_links'

/** A statement takes at most 65,535 values. */
async function insertInParts<Table extends EmailTable>(
  db: Db,
  table: Table,
  rows: Parameters<typeof insertRows<Table>>[2],
): Promise<void> {
  for (let i = 0; i < rows.length; i += maxRows) await insertRows(db, table, rows.slice(i, i + maxRows))
}

/** How many emails of a domain are still to be sent. */
export async function countUnsent(db: Db, domainId: Id<'dom'>): Promise<number> {
  const row = await db
    .selectFrom('emails')
    .select(sql<number>`count(*)`.as('count'))
    .where('domain_id', '=', domainId)
    .where('status', 'in', ['scheduled', 'queued', 'sending', 'delayed'])
    .executeTakeFirstOrThrow()
  return Number(row.count)
}
