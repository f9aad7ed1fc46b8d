import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export type BrandRow = DatabaseSchema['brands']

const brandColumns = ['id', 'organization_id', 'name', 'slug', 'status', 'created_at', 'updated_at'] as const

export async function insertBrand(db: Db, row: BrandRow): Promise<void> {
  await db.insertInto('brands').values(row).execute()
}

/** The organization's brands, oldest first; with `brandId`, only that one. */
export function selectBrands(db: Db, organizationId: Id<'org'>, brandId: Id<'brd'> | null): Promise<BrandRow[]> {
  let query = db.selectFrom('brands').select(brandColumns).where('organization_id', '=', organizationId)
  if (brandId !== null) query = query.where('id', '=', brandId)
  return query.orderBy('id').execute()
}

export function selectBrand(db: Db, organizationId: Id<'org'>, id: string): Promise<BrandRow | undefined> {
  return brandQuery(db, organizationId, id).executeTakeFirst()
}

/** The same brand, locked until the transaction ends. */
export function lockBrand(
  db: Db,
  { organization_id, id }: Pick<BrandRow, 'organization_id' | 'id'>,
): Promise<BrandRow | undefined> {
  return brandQuery(db, organization_id, id).forUpdate().executeTakeFirst()
}

function brandQuery(db: Db, organizationId: Id<'org'>, id: string) {
  return db
    .selectFrom('brands')
    .select(brandColumns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id as Id<'brd'>)
}

/** A brand of any organization: for the operator. */
export function selectAnyBrand(db: Db, id: Id<'brd'>): Promise<BrandRow | undefined> {
  return db.selectFrom('brands').select(brandColumns).where('id', '=', id).executeTakeFirst()
}

/** Those of `ids` that are brands of the organization. */
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

/** The brands of these organizations, the oldest first. */
export async function selectBrandsOfOrganizations(
  db: Db,
  organizationIds: readonly Id<'org'>[],
): Promise<Pick<BrandRow, 'id' | 'organization_id' | 'name' | 'slug'>[]> {
  if (organizationIds.length === 0) return []
  return db
    .selectFrom('brands')
    .select(['id', 'organization_id', 'name', 'slug'])
    .where('organization_id', 'in', organizationIds)
    .orderBy('id')
    .execute()
}
