import { type Selectable, sql } from 'kysely'
import type { Tenant } from '../../api/tenant.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export type MailboxRow = Selectable<DatabaseSchema['mailboxes']>

const mailboxColumns = ['id', 'organization_id', 'brand_id', 'domain_id', 'local_part', 'created_at'] as const

/** The mailboxes of the organization, or of one of its brands, with their domains' receiving status; by address. */
export async function selectMailboxes(db: Db, organizationId: Id<'org'>, brandId: Id<'brd'> | null) {
  let query = db
    .selectFrom('mailboxes')
    .innerJoin('domains', 'domains.id', 'mailboxes.domain_id')
    .leftJoin('receiving_claims', 'receiving_claims.domain_id', 'mailboxes.domain_id')
    .select([
      'mailboxes.id',
      'mailboxes.organization_id',
      'mailboxes.brand_id',
      'mailboxes.domain_id',
      'mailboxes.local_part',
      'mailboxes.created_at',
      'domains.domain',
      'domains.ownership_verified',
      'receiving_claims.identity_verified',
      'receiving_claims.mx_verified',
    ])
    .where('mailboxes.organization_id', '=', organizationId)
  if (brandId !== null) query = query.where('mailboxes.brand_id', '=', brandId)
  return query.orderBy('domains.domain').orderBy('mailboxes.local_part').execute()
}

/** What a choice of mailboxes shows of one. */
export interface MailboxAddress {
  readonly id: Id<'mbx'>
  readonly brandId: Id<'brd'>
  readonly domain: string
  /** Empty: the catch-all. */
  readonly localPart: string
}

/** At most `limit` mailboxes of the organization, or of one of its brands, whose local part starts with `prefix`; by address. */
export async function selectMailboxAddresses(
  db: Db,
  { organizationId, brandId }: Tenant,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): Promise<readonly MailboxAddress[]> {
  let query = db
    .selectFrom('mailboxes')
    .innerJoin('domains', 'domains.id', 'mailboxes.domain_id')
    .select(['mailboxes.id', 'mailboxes.brand_id as brandId', 'domains.domain', 'mailboxes.local_part as localPart'])
    .where('mailboxes.organization_id', '=', organizationId)
    .where('mailboxes.local_part', 'like', `${prefix.replace(/[\\%_]/g, '\\$&')}%`)
  if (brandId !== null) query = query.where('mailboxes.brand_id', '=', brandId)
  return query.orderBy('domains.domain').orderBy('mailboxes.local_part').limit(limit).execute()
}

export async function selectMailbox(db: Db, organizationId: Id<'org'>, id: string): Promise<MailboxRow | undefined> {
  return db
    .selectFrom('mailboxes')
    .select(mailboxColumns)
    .where('id', '=', id as Id<'mbx'>)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

/** The brand of each of these mailboxes of the organization; others are absent. */
export async function selectMailboxBrands(
  db: Db,
  organizationId: Id<'org'>,
  ids: readonly Id<'mbx'>[],
): Promise<ReadonlyMap<Id<'mbx'>, Id<'brd'>>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('mailboxes')
    .select(['id', 'brand_id'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map(row => [row.id, row.brand_id]))
}

export async function hasMailbox(db: Db, domainId: Id<'dom'>, localPart: string): Promise<boolean> {
  const row = await db
    .selectFrom('mailboxes')
    .select('id')
    .where('domain_id', '=', domainId)
    .where('local_part', '=', localPart)
    .executeTakeFirst()
  return row !== undefined
}

/** @throws a duplicate on `mailboxes_address` when the domain has this local part already. */
export async function insertMailbox(db: Db, row: MailboxRow): Promise<void> {
  await db.insertInto('mailboxes').values(row).execute()
}

/** Deletes the mailbox; its messages stay, without a mailbox. */
export async function deleteMailbox(db: Db, organizationId: Id<'org'>, id: Id<'mbx'>): Promise<void> {
  await db.deleteFrom('mailboxes').where('id', '=', id).where('organization_id', '=', organizationId).execute()
}

export async function countMailboxes(db: Db, domainId: Id<'dom'>): Promise<number> {
  const row = await db
    .selectFrom('mailboxes')
    .select(expressionBuilder => expressionBuilder.fn.countAll<string | number>().as('count'))
    .where('domain_id', '=', domainId)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** The number of unread messages in the folder `inbox` by mailbox; one without any is absent. */
export async function selectUnreadCounts(
  db: Db,
  mailboxIds: readonly Id<'mbx'>[],
): Promise<ReadonlyMap<Id<'mbx'>, number>> {
  if (mailboxIds.length === 0) return new Map()
  // Left to choose, the servers take an index that has the read messages of a mailbox too.
  const { rows } = await sql<{ readonly id: Id<'mbx'>; readonly count: string | number }>`
    SELECT STRAIGHT_JOIN mailboxes.id, COUNT(*) AS count FROM mailboxes
    INNER JOIN messages FORCE INDEX (messages_brand_unread)
      ON messages.brand_id = mailboxes.brand_id AND messages.mailbox_id = mailboxes.id
      AND messages.folder = 'inbox' AND messages.is_read = 0
    WHERE mailboxes.id IN (${sql.join(mailboxIds)}) GROUP BY mailboxes.id`.execute(db)
  return new Map(rows.map(row => [row.id, Number(row.count)]))
}
