import type { Selectable } from 'kysely'
import type { Instant } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import type { DatabaseSchema } from '../base/database/schema.ts'
import type { Id } from '../base/ids.ts'

export type DomainRow = Omit<Selectable<DatabaseSchema['domains']>, 'next_check_at' | 'checks_unchanged'>

export const domainColumns = [
  'id',
  'organization_id',
  'brand_id',
  'domain',
  'status',
  'ownership_verified',
  'provider_error',
  'last_checked_at',
  'created_at',
  'misses',
  'enrolled_with',
] as const

export async function selectDomain(db: Db, organizationId: Id<'org'>, id: string): Promise<DomainRow | undefined> {
  return db
    .selectFrom('domains')
    .select(domainColumns)
    .where('id', '=', id as Id<'dom'>)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

/** The domain, locked until the transaction ends. */
export async function lockDomain(db: Db, organizationId: Id<'org'>, id: Id<'dom'>): Promise<DomainRow | undefined> {
  return db
    .selectFrom('domains')
    .select(domainColumns)
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .forUpdate()
    .executeTakeFirst()
}

export async function selectDomainByName(
  db: Db,
  organizationId: Id<'org'>,
  domain: string,
): Promise<DomainRow | undefined> {
  return db
    .selectFrom('domains')
    .select(domainColumns)
    .where('organization_id', '=', organizationId)
    .where('domain', '=', domain)
    .executeTakeFirst()
}

/** The domains with this name in all organizations. */
export async function selectDomainsNamed(db: Db, domain: string): Promise<readonly DomainRow[]> {
  return db.selectFrom('domains').select(domainColumns).where('domain', '=', domain).orderBy('id').execute()
}

/** All domains of the organization, or of one of its brands, by name. */
export async function selectDomains(
  db: Db,
  organizationId: Id<'org'>,
  brandId: Id<'brd'> | null,
): Promise<readonly DomainRow[]> {
  let query = db.selectFrom('domains').select(domainColumns).where('organization_id', '=', organizationId)
  if (brandId !== null) query = query.where('brand_id', '=', brandId)
  return query.orderBy('domain').execute()
}

/** @throws a duplicate on `domains_domain` when the organization has the domain already. */
export async function insertDomain(db: Db, row: DomainRow, nextCheckAt: Instant): Promise<void> {
  await db
    .insertInto('domains')
    .values({ ...row, next_check_at: nextCheckAt })
    .execute()
}

export async function updateDomain(
  db: Db,
  id: Id<'dom'>,
  change: Partial<
    Pick<DomainRow, 'status' | 'ownership_verified' | 'provider_error' | 'last_checked_at' | 'misses' | 'enrolled_with'>
  >,
): Promise<void> {
  await db.updateTable('domains').set(change).where('id', '=', id).execute()
}

/** Deletes the domain with its records, keys and receiving claim. */
export async function deleteDomain(db: Db, id: Id<'dom'>): Promise<void> {
  await db.deleteFrom('domains').where('id', '=', id).execute()
}
