import { t } from 'elysia'
import { brandIdRefusals, brandRefusals } from '../../accounts/brands/brands.ts'
import { describeRoute } from '../../api/describe.ts'
import { limitParamSchema } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import {
  newSuppressionSchema,
  suppressionCheckSchema,
  suppressionDeletedSchema,
  suppressionPageSchema,
  suppressionReasonFilterSchema,
  suppressionSchema,
} from './schema.ts'
import {
  checkSuppression,
  createSuppression,
  listSuppressions,
  removeSuppression,
  removeSuppressionRefusals,
  type SuppressionsDeps,
} from './suppressions.ts'

const brandId = t.Optional(t.String())

/** The routes of suppressions. */
export function suppressionRoutes(deps: SuppressionsDeps) {
  return api('suppressions')
    .get('/v1/suppressions', ({ caller, query }) => listSuppressions(deps, caller, query), {
      detail: describeRoute('listSuppressions', 'List suppressed recipients', brandRefusals),
      scope: 'suppressions:read',
      query: t.Object({
        limit: limitParamSchema,
        cursor: t.Optional(t.String()),
        brand_id: brandId,
        reason: t.Optional(suppressionReasonFilterSchema),
      }),
      response: suppressionPageSchema,
    })
    .post(
      '/v1/suppressions',
      async ({ caller, body, reservation, set }) => {
        const suppression = await createSuppression(deps, caller, body, reservation)
        set.status = suppression.isNew ? 201 : 200
        return suppression.body
      },
      {
        detail: describeRoute('createSuppression', 'Suppress a recipient', brandIdRefusals),
        scope: 'suppressions:write',
        body: newSuppressionSchema,
        response: { 200: suppressionSchema, 201: suppressionSchema },
      },
    )
    .get(
      '/v1/suppressions/check',
      ({ caller, query }) => checkSuppression(deps, caller, { email: query.email, brandId: query.brand_id }),
      {
        detail: describeRoute('checkSuppression', 'Check whether a recipient is suppressed', brandIdRefusals),
        scope: 'suppressions:read',
        query: t.Object({
          email: t.String({ maxLength: 1024, description: 'The recipient’s address.' }),
          brand_id: brandId,
        }),
        response: suppressionCheckSchema,
      },
    )
    .delete(
      '/v1/suppressions/:email',
      ({ caller, params, query, reservation }) =>
        removeSuppression(deps, caller, { email: params.email, brandId: query.brand_id }, reservation),
      {
        detail: describeRoute('deleteSuppression', 'Remove a suppression', removeSuppressionRefusals),
        scope: 'suppressions:write',
        params: t.Object({ email: t.String({ minLength: 1, maxLength: 1024 }) }),
        query: t.Object({ brand_id: brandId }),
        response: suppressionDeletedSchema,
      },
    )
}
