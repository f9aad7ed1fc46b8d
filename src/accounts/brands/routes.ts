import { t } from 'elysia'
import { idParamsSchema } from '../../api/common-schemas.ts'
import { describeRoute } from '../../api/describe.ts'
import { ifUpdatedAtRefusals } from '../../api/if-updated-at.ts'
import { api } from '../../api/route.ts'
import {
  type BrandDeps,
  brandRefusals,
  brandSlugRefusals,
  changeBrand,
  createBrand,
  getBrand,
  listBrands,
  provisionBrand,
} from './brands.ts'
import { brandChangeSchema, brandNameSchema, brandSchema, brandSlugSchema } from './schema.ts'

/** The operations on brands. */
export function brandRoutes(deps: BrandDeps) {
  return api('brands')
    .post(
      '/v1/brands',
      ({ caller, body, reservation, set }) => {
        set.status = 201
        return createBrand(deps, caller, body, reservation)
      },
      {
        detail: describeRoute('createBrand', 'Create a brand', brandSlugRefusals),
        scope: { scope: 'brands:write', organizationOnly: true },
        body: t.Object({ name: brandNameSchema, slug: brandSlugSchema }),
        response: { 201: brandSchema },
      },
    )
    .get('/v1/brands', async ({ caller }) => ({ data: [...(await listBrands(deps, caller))] }), {
      detail: describeRoute('listBrands', 'List brands'),
      scope: 'brands:read',
      response: t.Object({ data: t.Array(brandSchema) }),
    })
    .get('/v1/brands/:id', ({ caller, params }) => getBrand(deps, caller, params.id), {
      detail: describeRoute('getBrand', 'Get a brand', brandRefusals),
      scope: 'brands:read',
      params: idParamsSchema,
      response: brandSchema,
    })
    .patch(
      '/v1/brands/:id',
      ({ caller, params, body, reservation }) => changeBrand(deps, caller, params.id, body, reservation),
      {
        detail: describeRoute('updateBrand', 'Change the name or slug of a brand', [
          ...brandRefusals,
          ...brandSlugRefusals,
          ...ifUpdatedAtRefusals,
        ]),
        scope: { scope: 'brands:write', organizationOnly: true },
        params: idParamsSchema,
        body: brandChangeSchema,
        response: brandSchema,
      },
    )
    .post(
      '/v1/brands/:id/provision',
      ({ caller, params, reservation }) => provisionBrand(deps, caller, params.id, reservation),
      {
        detail: describeRoute('provisionBrand', 'Mark a brand ready', brandRefusals),
        scope: 'brands:write',
        params: idParamsSchema,
        response: brandSchema,
      },
    )
}
