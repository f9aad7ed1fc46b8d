import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export type OrganizationRow = DatabaseSchema['organizations']
export type BrandRow = DatabaseSchema['brands']

export async function insertOrganization(db: Db, row: OrganizationRow): Promise<void> {
  await db.insertInto('organizations').values(row).execute()
}

export function selectOrganizations(db: Db): Promise<OrganizationRow[]> {
  return db.selectFrom('organizations').select(['id', 'name', 'plan', 'created_at']).orderBy('id').execute()
}

export function selectOrganization(db: Db, id: Id<'org'>): Promise<OrganizationRow | undefined> {
  return db
    .selectFrom('organizations')
    .select(['id', 'name', 'plan', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirst()
}

export async function updateOrganizationPlan(db: Db, id: Id<'org'>, plan: OrganizationRow['plan']): Promise<void> {
  await db.updateTable('organizations').set({ plan }).where('id', '=', id).execute()
}

export async function updateOrganizationName(db: Db, id: Id<'org'>, name: string): Promise<void> {
  await db.updateTable('organizations').set({ name }).where('id', '=', id).execute()
}

const brandColumns = ['id', 'organization_id', 'name', 'slug', 'status', 'created_at', 'updated_at'] as const

export async function insertBrand(db: Db, row: BrandRow): Promise<void> {
  await db.insertInto('brands').values(row).execute()
}

/** The organization's brands, oldest first; only that one where `brandId` is given. */
export function selectBrands(db: Db, organizationId: Id<'org'>, brandId: Id<'brd'> | null): Promise<BrandRow[]> {
  let query = db.selectFrom('brands').select(brandColumns).where('organization_id', '=', organizationId)
  if (brandId !== null) query = query.where('id', '=', brandId)
  return query.orderBy('id').execute()
}

export function selectBrand(db: Db, organizationId: Id<'org'>, id: string): Promise<BrandRow | undefined> {
  return db
    .selectFrom('brands')
    .select(brandColumns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id as Id<'brd'>)
    .executeTakeFirst()
}

/** Whosoever it is. */
export function selectAnyBrand(db: Db, id: Id<'brd'>): Promise<BrandRow | undefined> {
  return db.selectFrom('brands').select(brandColumns).where('id', '=', id).executeTakeFirst()
}

/** Of these, the ids of brands that the organization has. */
export async function selectBrandIds(
  db: Db,
  organizationId: Id<'org'>,
  ids: readonly Id<'brd'>[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .selectFrom('brands')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute()
  return new Set(rows.map(row => row.id))
}

/** The names of these brands of the organization, the oldest brand's first. */
export async function selectBrandNames(
  db: Db,
  organizationId: Id<'org'>,
  ids: readonly Id<'brd'>[],
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('brands')
    .select('name')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .orderBy('id')
    .execute()
  return rows.map(row => row.name)
}

export async function updateBrand(
  db: Db,
  organizationId: Id<'org'>,
  id: Id<'brd'>,
  change: Partial<Pick<BrandRow, 'name' | 'slug' | 'status'>> & Pick<BrandRow, 'updated_at'>,
): Promise<void> {
  await db
    .updateTable('brands')
    .set(change)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute()
}

/** Emails accepted in the month, all slots together. */
export async function selectAcceptedCounts(
  db: Db,
  organizationIds: readonly Id<'org'>[],
  month: string,
): Promise<ReadonlyMap<Id<'org'>, number>> {
  const rows = await db
    .selectFrom('usage_months')
    .select(['organization_id', sql<string>`SUM(accepted)`.as('accepted')])
    .where('organization_id', 'in', organizationIds)
    .where('month', '=', month)
    .groupBy('organization_id')
    .execute()
  return new Map(rows.map(row => [row.organization_id, Number(row.accepted)]))
}

/** Locks the first slot of each until the transaction ends; makes it where there is none. */
export async function lockAcceptedCounts(db: Db, organizationIds: readonly Id<'org'>[], month: string): Promise<void> {
  await upsertAcceptedCounts(
    db,
    organizationIds.map(organization_id => ({ organization_id, month, slot: 0, accepted: 0 })),
  )
}

export async function upsertAcceptedCounts(db: Db, rows: readonly DatabaseSchema['usage_months'][]): Promise<void> {
  await insertRows(db, 'usage_months', rows, 'ON DUPLICATE KEY UPDATE accepted = accepted + VALUES(accepted)')
}
