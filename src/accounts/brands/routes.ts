import { t } from 'elysia'
import { idParams } from '../../api/common-schemas.ts'
import { says } from '../../api/describe.ts'
import { api } from '../../api/route.ts'
import { type BrandsUse, changeBrand, createBrand, listBrands, provisionBrand, readBrand } from './brands.ts'
import { brandName, brandShape, brandSlug } from './schema.ts'

/** SPEC section 4, Brands. */
export function brandRoutes(use: BrandsUse) {
  return api('brands')
    .post(
      '/v1/brands',
      ({ caller, body, reservation, set }) => {
        set.status = 201
        return createBrand(use, caller, body, reservation)
      },
      {
        detail: says('createBrand', 'Create a brand', ['slug_taken']),
        scope: { scope: 'brands:write', organizationOnly: true },
        body: t.Object({ name: brandName, slug: brandSlug }),
        response: { 201: brandShape },
      },
    )
    .get('/v1/brands', async ({ caller }) => ({ data: [...(await listBrands(use, caller))] }), {
      detail: says('listBrands', 'List brands'),
      scope: 'brands:read',
      response: t.Object({ data: t.Array(brandShape) }),
    })
    .get('/v1/brands/:id', ({ caller, params }) => readBrand(use, caller, params.id), {
      detail: says('getBrand', 'Read a brand', ['not_found', 'brand_restricted']),
      scope: 'brands:read',
      params: idParams,
      response: brandShape,
    })
    .patch(
      '/v1/brands/:id',
      ({ caller, params, body, reservation }) => changeBrand(use, caller, params.id, body, reservation),
      {
        detail: says('updateBrand', 'Change the name or slug of a brand', ['not_found', 'slug_taken']),
        scope: { scope: 'brands:write', organizationOnly: true },
        params: idParams,
        body: t.Object({ name: t.Optional(brandName), slug: t.Optional(brandSlug) }),
        response: brandShape,
      },
    )
    .post(
      '/v1/brands/:id/provision',
      ({ caller, params, reservation }) => provisionBrand(use, caller, params.id, reservation),
      {
        detail: says('provisionBrand', 'Mark a brand ready', ['not_found', 'brand_restricted']),
        scope: 'brands:write',
        params: idParams,
        response: brandShape,
      },
    )
}
