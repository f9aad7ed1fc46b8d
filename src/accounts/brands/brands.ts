import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
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

/** For whom: the organization, and the one brand that it is restricted to. */
export type Owner = Pick<Caller, 'organizationId' | 'brandId'>

/** What the work on brands uses. */
export interface BrandDeps {
  readonly db: Db
  readonly clock: Clock
}

/**
 * The brand with this id.
 * @param param the parameter that named it, where that is not the path
 * @throws Refusal `not_found` when the organization has none, `brand_restricted` when the owner is restricted to another.
 */
export async function loadBrand(db: Db, owner: Owner, id: string, param?: string): Promise<BrandRow> {
  const brand = isId('brd', id) ? await selectBrand(db, owner.organizationId, id) : undefined
  if (!brand)
    throw refuse('not_found', { message: `There is no brand ${id}.`, ...(param === undefined ? {} : { param }) })
  if (owner.brandId !== null && owner.brandId !== brand.id)
    throw refuse('brand_restricted', {
      message: `This API key is restricted to another brand than ${id}.`,
      ...(param === undefined ? {} : { param }),
    })
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
 * The brand that an operation is about: the one given as `brand_id`, else the one that the owner is restricted to.
 * @throws Refusal `brand_required` where neither says it; those of {@link loadBrand}
 */
export async function resolveBrandId(db: Db, owner: Owner, given: string | undefined): Promise<Id<'brd'>> {
  if (given !== undefined) return (await loadBrand(db, owner, given, 'brand_id')).id
  if (owner.brandId !== null) return owner.brandId
  throw refuse('brand_required', {
    message: 'brand_id: this API key is of the whole organization; say which brand is meant.',
    param: 'brand_id',
  })
}

/** Makes a brand. @throws Refusal `slug_taken` */
export async function createBrand(
  deps: BrandDeps,
  owner: Pick<Owner, 'organizationId'>,
  { name, slug }: { readonly name: string; readonly slug: string },
  reservation?: Reservation,
): Promise<BrandJson> {
  const at = deps.clock.now()
  const brand: BrandRow = {
    id: newId('brd'),
    organization_id: owner.organizationId,
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

/** The organization's brands that the owner may see, oldest first. */
export async function listBrands(deps: BrandDeps, owner: Owner): Promise<readonly BrandJson[]> {
  return (await selectBrands(deps.db, owner.organizationId, owner.brandId)).map(toJsonBrand)
}

/** Changes what is given. @throws Refusal `not_found`, `slug_taken` */
export function changeBrand(
  deps: BrandDeps,
  owner: Owner,
  id: string,
  change: { readonly name?: string | undefined; readonly slug?: string | undefined },
  reservation?: Reservation,
): Promise<BrandJson> {
  const { name, slug } = change
  return unlessTaken(slug ?? '', () =>
    inTransaction(deps.db, async db => {
      const brand = await loadBrand(db, owner, id)
      const at = deps.clock.now()
      const changes = {
        ...(name === undefined ? {} : { name }),
        ...(slug === undefined ? {} : { slug }),
        updated_at: at,
      }
      await updateBrand(db, owner.organizationId, brand.id, changes)
      const shape = toJsonBrand({ ...brand, ...changes })
      await storeResponse(db, reservation, { status: 200, body: shape, at })
      return shape
    }),
  )
}

/** Marks the brand ready. @throws Refusal `not_found`, `brand_restricted` */
export function provisionBrand(
  deps: BrandDeps,
  owner: Owner,
  id: string,
  reservation?: Reservation,
): Promise<BrandJson> {
  return inTransaction(deps.db, async db => {
    const brand = await loadBrand(db, owner, id)
    const at = deps.clock.now()
    const changes = brand.status === 'ready' ? undefined : ({ status: 'ready', updated_at: at } as const)
    if (changes) await updateBrand(db, owner.organizationId, brand.id, changes)
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
export async function getBrand(deps: BrandDeps, owner: Owner, id: string): Promise<BrandJson> {
  return toJsonBrand(await loadBrand(deps.db, owner, id))
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
