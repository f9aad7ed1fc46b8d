import { sql } from 'kysely'
import type { Instant } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import type { Id } from '../base/ids.ts'
import { insertRows } from '../base/insert-rows.ts'
import type { Schema } from '../base/schema.ts'
import { placeholders, selectRows } from '../base/select-rows.ts'

export type OrganizationRow = Schema['organizations']
export type BrandRow = Schema['brands']
export type KeyRow = Schema['api_keys']

export async function insertOrganization(db: Db, row: OrganizationRow): Promise<void> {
  await db.insertInto('organizations').values(row).execute()
}

export function selectOrganizations(db: Db): Promise<OrganizationRow[]> {
  return db.selectFrom('organizations').select(['id', 'name', 'plan', 'created_at']).orderBy('id').execute()
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

const keyColumns = [
  'id',
  'organization_id',
  'brand_id',
  'name',
  'secret_hash',
  'scopes',
  'expires_at',
  'revoked_at',
  'last_used_at',
  'created_at',
  'maker_id',
  'member_id',
] as const

export async function insertKey(db: Db, row: KeyRow): Promise<void> {
  await db.insertInto('api_keys').values(row).execute()
}

export function selectKeysOf(db: Db, organizationId: Id<'org'>): Promise<KeyRow[]> {
  return db
    .selectFrom('api_keys')
    .select(keyColumns)
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .execute()
}

/** The keys with these ids, whosever they are: who asks is not known yet. */
export function selectKeys(db: Db, ids: readonly Id<'key'>[]): Promise<KeyRow[]> {
  return selectRows<KeyRow>(db, `SELECT ${keyColumns.join(', ')} FROM api_keys WHERE id IN (${placeholders(ids)})`, ids)
}

/** Is there such a key? A second revocation keeps the first one's time. */
export async function updateKeyRevoked(db: Db, id: Id<'key'>, at: Instant): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql<Instant>`COALESCE(revoked_at, ${at})` })
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function updateKeysUsed(db: Db, ids: readonly Id<'key'>[], at: Instant): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: at })
    .where('id', 'in', ids)
    .where(where => where.or([where('last_used_at', 'is', null), where('last_used_at', '<', at)]))
    .execute()
}

/** Emails accepted in the month, all slots together. */
export async function selectAccepted(
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
export async function lockAccepted(db: Db, organizationIds: readonly Id<'org'>[], month: string): Promise<void> {
  await addAccepted(
    db,
    organizationIds.map(organization_id => ({ organization_id, month, slot: 0, accepted: 0 })),
  )
}

export async function addAccepted(db: Db, rows: readonly Schema['usage_months'][]): Promise<void> {
  await insertRows(db, 'usage_months', rows, 'ON DUPLICATE KEY UPDATE accepted = accepted + VALUES(accepted)')
}
