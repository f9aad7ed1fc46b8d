import { t } from 'elysia'
import { api } from '../web/route.ts'
import { brandName, brandShape, brandSlug } from './brand-shape.ts'
import { type BrandsUse, changeBrand, createBrand, listBrands, provisionBrand, readBrand } from './brands.ts'

const id = t.Object({ id: t.String() })

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
        scope: { scope: 'brands:write', organizationOnly: true },
        body: t.Object({ name: brandName, slug: brandSlug }),
        response: { 201: brandShape },
      },
    )
    .get('/v1/brands', async ({ caller }) => ({ data: [...(await listBrands(use, caller))] }), {
      scope: 'brands:read',
      response: t.Object({ data: t.Array(brandShape) }),
    })
    .get('/v1/brands/:id', ({ caller, params }) => readBrand(use, caller, params.id), {
      scope: 'brands:read',
      params: id,
      response: brandShape,
    })
    .patch(
      '/v1/brands/:id',
      ({ caller, params, body, reservation }) => changeBrand(use, caller, params.id, body, reservation),
      {
        scope: { scope: 'brands:write', organizationOnly: true },
        params: id,
        body: t.Object({ name: t.Optional(brandName), slug: t.Optional(brandSlug) }),
        response: brandShape,
      },
    )
    .post(
      '/v1/brands/:id/provision',
      ({ caller, params, reservation }) => provisionBrand(use, caller, params.id, reservation),
      { scope: 'brands:write', params: id, response: brandShape },
    )
}
