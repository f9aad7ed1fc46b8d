import { t } from 'elysia'
import { says } from '../../api/describe.ts'
import { limitParam } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import {
  suppressionCheckShape,
  suppressionDeletedShape,
  suppressionFilter,
  suppressionPageShape,
  suppressionShape,
  suppressShape,
} from './schema.ts'
import {
  checkSuppression,
  createSuppression,
  listSuppressions,
  removeSuppression,
  type SuppressionsUse,
} from './suppressions.ts'

const brandId = t.Optional(t.String())
const refusals = ['brand_required', 'not_found', 'brand_restricted'] as const

/** SPEC section 4: suppressions. */
export function suppressionRoutes(use: SuppressionsUse) {
  return api('suppressions')
    .get('/v1/suppressions', ({ caller, query }) => listSuppressions(use, caller, query), {
      detail: says('listSuppressions', 'List suppressed recipients', ['not_found', 'brand_restricted']),
      scope: 'suppressions:read',
      query: t.Object({
        limit: limitParam,
        cursor: t.Optional(t.String()),
        brand_id: brandId,
        reason: t.Optional(suppressionFilter),
      }),
      response: suppressionPageShape,
    })
    .post(
      '/v1/suppressions',
      async ({ caller, body, reservation, set }) => {
        const { shape, isNew } = await createSuppression(use, caller, body, reservation)
        set.status = isNew ? 201 : 200
        return shape
      },
      {
        detail: says('createSuppression', 'Suppress a recipient', refusals),
        scope: 'suppressions:write',
        body: suppressShape,
        response: { 200: suppressionShape, 201: suppressionShape },
      },
    )
    .get(
      '/v1/suppressions/check',
      ({ caller, query }) => checkSuppression(use, caller, { email: query.email, brandId: query.brand_id }),
      {
        detail: says('checkSuppression', 'Check whether a recipient is suppressed', refusals),
        scope: 'suppressions:read',
        query: t.Object({
          email: t.String({ maxLength: 1024, description: 'The address of the recipient.' }),
          brand_id: brandId,
        }),
        response: suppressionCheckShape,
      },
    )
    .delete(
      '/v1/suppressions/:email',
      ({ caller, params, query, reservation }) =>
        removeSuppression(use, caller, { email: params.email, brandId: query.brand_id }, reservation),
      {
        detail: says('deleteSuppression', 'Remove a suppression', refusals),
        scope: 'suppressions:write',
        params: t.Object({ email: t.String({ minLength: 1, maxLength: 1024 }) }),
        query: t.Object({ brand_id: brandId }),
        response: suppressionDeletedShape,
      },
    )
}
