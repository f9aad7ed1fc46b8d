import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { requireBrand, type Tenant } from '../../api/tenant.ts'
import type { Clock } from '../../base/clock.ts'
import { type Db, inTransaction, isDuplicate } from '../../base/database/database.ts'
import { type Id, isId, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import {
  type BrandRow,
  insertBrand,
  selectAnyBrand,
  selectBrand,
  selectBrandIds,
  selectBrands,
  updateBrand,
} from '../organizations/table.ts'
import { type BrandJson, toJsonBrand } from './schema.ts'

/** What the work on brands uses. */
export interface BrandDeps {
  readonly db: Db
  readonly clock: Clock
}

/**
 * The brand with this id.
 * @param param the parameter that named it, where that is not the path
 * @throws Refusal `not_found` when the organization has none, `brand_restricted` when the tenant is restricted to another.
 */
export async function loadBrand(db: Db, tenant: Tenant, id: string, param?: string): Promise<BrandRow> {
  const brand = isId('brd', id) ? await selectBrand(db, tenant.organizationId, id) : undefined
  if (!brand)
    throw refuse('not_found', { message: `There is no brand ${id}.`, ...(param === undefined ? {} : { param }) })
  requireBrand(tenant, brand.id, { param })
  return brand
}

/**
 * These ids, each once and in order: all are brands of the organization.
 * @param param the parameter that holds them
 * @throws Refusal `not_found` that names the first which is none
 */
export async function resolveBrandIds(
  db: Db,
  organizationId: Id<'org'>,
  ids: readonly string[],
  param: string,
): Promise<readonly Id<'brd'>[]> {
  const wanted = [...new Set(ids)].filter(isBrandId)
  const known = await selectBrandIds(db, organizationId, wanted)
  const unknown = ids.findIndex(id => !known.has(id))
  if (unknown !== -1)
    throw refuse('not_found', { message: `There is no brand ${ids[unknown]}.`, param: `${param}[${unknown}]` })
  return wanted.sort()
}

function isBrandId(text: string): text is Id<'brd'> {
  return isId('brd', text)
}

/**
 * The brand that an operation is about: the one given as `brand_id`, else the one that the tenant is restricted to.
 * @throws Refusal `brand_required` where neither says it; those of {@link loadBrand}
 */
export async function resolveBrandId(db: Db, tenant: Tenant, given: string | undefined): Promise<Id<'brd'>> {
  if (given !== undefined) return (await loadBrand(db, tenant, given, 'brand_id')).id
  if (tenant.brandId !== null) return tenant.brandId
  throw refuse('brand_required', {
    message: 'brand_id: this API key is of the whole organization; say which brand is meant.',
    param: 'brand_id',
  })
}

/** Makes a brand. @throws Refusal `slug_taken` */
export async function createBrand(
  deps: BrandDeps,
  tenant: Pick<Tenant, 'organizationId'>,
  { name, slug }: { readonly name: string; readonly slug: string },
  reservation?: Reservation,
): Promise<BrandJson> {
  const at = deps.clock.now()
  const brand: BrandRow = {
    id: newId('brd'),
    organization_id: tenant.organizationId,
    name,
    slug,
    status: 'pending',
    created_at: at,
    updated_at: at,
  }
  const shape = toJsonBrand(brand)
  await unlessTaken(slug, () =>
    inTransaction(deps.db, async db => {
      await insertBrand(db, brand)
      await storeResponse(db, reservation, { status: 201, body: shape, at })
    }),
  )
  return shape
}

/** The organization's brands that the tenant may see, oldest first. */
export async function listBrands(deps: BrandDeps, tenant: Tenant): Promise<readonly BrandJson[]> {
  return (await selectBrands(deps.db, tenant.organizationId, tenant.brandId)).map(toJsonBrand)
}

/** Changes what is given. @throws Refusal `not_found`, `slug_taken` */
export function changeBrand(
  deps: BrandDeps,
  tenant: Tenant,
  id: string,
  change: { readonly name?: string | undefined; readonly slug?: string | undefined },
  reservation?: Reservation,
): Promise<BrandJson> {
  const { name, slug } = change
  return unlessTaken(slug ?? '', () =>
    inTransaction(deps.db, async db => {
      const brand = await loadBrand(db, tenant, id)
      const at = deps.clock.now()
      const changes = {
        ...(name === undefined ? {} : { name }),
        ...(slug === undefined ? {} : { slug }),
        updated_at: at,
      }
      await updateBrand(db, tenant.organizationId, brand.id, changes)
      const shape = toJsonBrand({ ...brand, ...changes })
      await storeResponse(db, reservation, { status: 200, body: shape, at })
      return shape
    }),
  )
}

/** Marks the brand ready. @throws Refusal `not_found`, `brand_restricted` */
export function provisionBrand(
  deps: BrandDeps,
  tenant: Tenant,
  id: string,
  reservation?: Reservation,
): Promise<BrandJson> {
  return inTransaction(deps.db, async db => {
    const brand = await loadBrand(db, tenant, id)
    const at = deps.clock.now()
    const changes = brand.status === 'ready' ? undefined : ({ status: 'ready', updated_at: at } as const)
    if (changes) await updateBrand(db, tenant.organizationId, brand.id, changes)
    const shape = toJsonBrand({ ...brand, ...changes })
    await storeResponse(db, reservation, { status: 200, body: shape, at })
    return shape
  })
}

/** A brand by its id alone, for the operator. */
export async function findBrand(db: Db, id: Id<'brd'>): Promise<BrandRow | undefined> {
  return selectAnyBrand(db, id)
}

/** One brand. @throws Refusal `not_found`, `brand_restricted` */
export async function getBrand(deps: BrandDeps, tenant: Tenant, id: string): Promise<BrandJson> {
  return toJsonBrand(await loadBrand(deps.db, tenant, id))
}

async function unlessTaken<Result>(slug: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!isDuplicate(error, 'brands_slug')) throw error
    throw refuse('slug_taken', {
      message: `The slug "${slug}" belongs to another brand of the organization.`,
      param: 'slug',
    })
  }
}
