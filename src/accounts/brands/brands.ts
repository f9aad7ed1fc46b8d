import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { applyChange, requireUnchanged } from '../../api/if-updated-at.ts'
import { requireBrand, requireBrandRefusals, type Tenant } from '../../api/tenant.ts'
import type { Clock } from '../../base/clock.ts'
import { type Db, inTransaction, isDuplicate } from '../../base/database/database.ts'
import { type Id, isId, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { type BrandChange, type BrandJson, toJsonBrand } from './schema.ts'
import {
  type BrandRow,
  insertBrand,
  lockBrand,
  selectAnyBrand,
  selectBrand,
  selectBrandIds,
  selectBrands,
  updateBrand,
} from './table.ts'

export interface BrandDeps {
  readonly db: Db
  readonly clock: Clock
}

/** The refusals of {@link loadBrand}. */
export const brandRefusals = ['not_found', ...requireBrandRefusals] as const

/**
 * The brand with this id.
 * @param param the request parameter that holds the id, when it is not the path
 * @throws Refusal `not_found` when the organization has no such brand, `brand_restricted` when the tenant is restricted to another one
 */
export async function loadBrand(db: Db, tenant: Tenant, id: string, param?: string): Promise<BrandRow> {
  const brand = isId('brd', id) ? await selectBrand(db, tenant.organizationId, id) : undefined
  if (!brand)
    throw refuse('not_found', { message: `There is no brand ${id}.`, ...(param === undefined ? {} : { param }) })
  requireBrand(tenant, brand.id, { param })
  return brand
}

/**
 * The ids without duplicates, sorted, all of them brands of the organization.
 * @param param the request parameter that holds the list
 * @throws Refusal `not_found` that names the first id that is no brand of the organization
 */
export async function resolveBrandIds(
  db: Db,
  organizationId: Id<'org'>,
  ids: readonly string[],
  param: string,
): Promise<readonly Id<'brd'>[]> {
  const brandIds = [...new Set(ids)].filter(isBrandId)
  const known = await selectBrandIds(db, organizationId, brandIds)
  const unknown = ids.findIndex(id => !known.has(id))
  if (unknown !== -1)
    throw refuse('not_found', { message: `There is no brand ${ids[unknown]}.`, param: `${param}[${unknown}]` })
  return brandIds.sort()
}

function isBrandId(text: string): text is Id<'brd'> {
  return isId('brd', text)
}

/** The refusals of {@link resolveBrandId}. */
export const brandIdRefusals = ['brand_required', ...brandRefusals] as const

/**
 * The id of the brand that an operation is about: `brand_id` of the request, else the brand that the tenant is restricted to.
 * @throws Refusal `brand_required` when there is neither; those of {@link loadBrand}
 */
export async function resolveBrandId(db: Db, tenant: Tenant, brandId: string | undefined): Promise<Id<'brd'>> {
  if (brandId !== undefined) return (await loadBrand(db, tenant, brandId, 'brand_id')).id
  if (tenant.brandId !== null) return tenant.brandId
  throw refuse('brand_required', {
    message: 'brand_id is required: this API key belongs to the whole organization.',
    param: 'brand_id',
  })
}

/** Creates a brand with the status `pending`. @throws Refusal `slug_taken` */
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
  const json = toJsonBrand(brand)
  await refuseTakenSlug(slug, () =>
    inTransaction(deps.db, async db => {
      await insertBrand(db, brand)
      await storeResponse(db, reservation, { status: 201, body: json })
    }),
  )
  return json
}

/** The brands that the tenant may see, oldest first. */
export async function listBrands(deps: BrandDeps, tenant: Tenant): Promise<readonly BrandJson[]> {
  return (await selectBrands(deps.db, tenant.organizationId, tenant.brandId)).map(toJsonBrand)
}

/** Changes the fields that are given. @throws Refusal `not_found`, `slug_taken`, `changed_since_read` */
export function changeBrand(
  deps: BrandDeps,
  tenant: Tenant,
  id: string,
  change: BrandChange,
  reservation?: Reservation,
): Promise<BrandJson> {
  const { name, slug } = change
  return refuseTakenSlug(slug ?? '', () =>
    inTransaction(deps.db, async db => {
      const found = await loadBrand(db, tenant, id)
      const brand = (await lockBrand(db, found)) ?? found
      requireUnchanged(`The brand ${brand.name}`, brand, change)
      const changes = { ...(name === undefined ? {} : { name }), ...(slug === undefined ? {} : { slug }) }
      const changed = applyChange(brand, changes, deps.clock.now())
      const { updated_at } = changed
      if (changed !== brand) await updateBrand(db, tenant.organizationId, brand.id, { ...changes, updated_at })
      const json = toJsonBrand(changed)
      await storeResponse(db, reservation, { status: 200, body: json })
      return json
    }),
  )
}

/** Sets the brand's status to `ready`; repeating it changes nothing. @throws Refusal `not_found`, `brand_restricted` */
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
    const json = toJsonBrand({ ...brand, ...changes })
    await storeResponse(db, reservation, { status: 200, body: json })
    return json
  })
}

/** The brand with this id in any organization: for the operator. */
export async function findBrand(db: Db, id: Id<'brd'>): Promise<BrandRow | undefined> {
  return selectAnyBrand(db, id)
}

/** @throws Refusal `not_found`, `brand_restricted` */
export async function getBrand(deps: BrandDeps, tenant: Tenant, id: string): Promise<BrandJson> {
  return toJsonBrand(await loadBrand(deps.db, tenant, id))
}

/** The refusals of writing the slug of a brand. */
export const brandSlugRefusals = ['slug_taken'] as const

async function refuseTakenSlug<Result>(slug: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!isDuplicate(error, 'brands_slug')) throw error
    throw refuse('slug_taken', {
      message: `Another brand of the organization has the slug "${slug}".`,
      param: 'slug',
    })
  }
}
