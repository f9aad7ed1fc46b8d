import { sql } from 'kysely'
import type { Instant } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import type { Id } from '../base/ids.ts'
import { insertRows } from '../base/insert-rows.ts'
import type { Schema } from '../base/schema.ts'

/** A registered domain that emails may come from. */
export interface SendingDomain {
  readonly id: Id<'dom'>
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  readonly domain: string
  readonly status: Schema['domains']['status']
}

/** The domains of these names, each in its organization; those not registered are left out. */
export async function findDomains(
  db: Db,
  names: readonly { readonly organizationId: Id<'org'>; readonly domain: string }[],
): Promise<readonly SendingDomain[]> {
  const byOrganization = Map.groupBy(names, name => name.organizationId)
  return db
    .selectFrom('domains')
    .select(['id', 'organization_id as organizationId', 'brand_id as brandId', 'domain', 'status'])
    .where(where =>
      where.or(
        Array.from(byOrganization, ([organizationId, of]) =>
          where.and([
            where('organization_id', '=', organizationId),
            where('domain', 'in', padded([...new Set(of.map(name => name.domain))])),
          ]),
        ),
      ),
    )
    .execute()
}

/** These domains as they are now, with their organizations' plans; none is deleted before the transaction ends. */
export async function holdDomains(db: Db, ids: readonly Id<'dom'>[]) {
  return await db
    .selectFrom('domains')
    .innerJoin('organizations', 'organizations.id', 'domains.organization_id')
    .select(['domains.id', 'domains.status', 'organizations.id as organizationId', 'organizations.plan'])
    .where('domains.id', 'in', padded([...new Set(ids)].sort()))
    .modifyEnd(sql`LOCK IN SHARE MODE`)
    .execute()
}

/** Someone who may be on a brand's suppression list. */
export interface Suppressible {
  readonly brandId: Id<'brd'>
  /** Lower case. */
  readonly email: string
}

/** Those who are on the list at `now`. One who only unsubscribed still gets what cannot be unsubscribed from. */
export async function findSuppressed(
  db: Db,
  candidates: readonly Suppressible[],
  now: Instant,
): Promise<readonly Suppressible[]> {
  const byBrand = Map.groupBy(candidates, candidate => candidate.brandId)
  return db
    .selectFrom('suppressions')
    .select(['brand_id as brandId', 'email'])
    .where(where =>
      where.or(
        Array.from(byBrand, ([brandId, of]) =>
          where.and([
            where('brand_id', '=', brandId),
            where('email', 'in', padded([...new Set(of.map(each => each.email))])),
          ]),
        ),
      ),
    )
    .where('reason', '!=', 'unsubscribe')
    .where(where => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .execute()
}

/** All that one email leaves in the database when it is accepted. */
export interface EmailRows {
  readonly email: Schema['emails']
  readonly recipients: readonly Schema['email_recipients'][]
  readonly events: readonly Schema['email_events'][]
  readonly outbox: readonly Schema['outbox'][]
}

/** Writes accepted emails. @throws a duplicate on `emails_created` when one's created_at is taken. */
export async function insertEmails(db: Db, emails: readonly EmailRows[]): Promise<void> {
  await insertRows(
    db,
    'emails',
    emails.map(each => each.email),
  )
  await insertInParts(
    db,
    'email_recipients',
    emails.flatMap(each => each.recipients),
  )
  await insertInParts(
    db,
    'email_events',
    emails.flatMap(each => each.events),
  )
  await insertInParts(
    db,
    'outbox',
    emails.flatMap(each => each.outbox),
  )
}

const maxRows = 256

/** A statement takes at most 65,535 values. */
async function insertInParts<Table extends 'email_recipients' | 'email_events' | 'outbox'>(
  db: Db,
  table: Table,
  rows: Parameters<typeof insertRows<Table>>[2],
): Promise<void> {
  for (let i = 0; i < rows.length; i += maxRows) await insertRows(db, table, rows.slice(i, i + maxRows))
}

/** Repeats the last one up to a power of two: few different statements, so that they stay prepared. */
export function padded<Item>(items: readonly Item[]): readonly Item[] {
  const length = 2 ** Math.ceil(Math.log2(items.length))
  return Array.from({ length }, (_, i) => items[Math.min(i, items.length - 1)] as Item)
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
