import { t } from 'elysia'
import { brandRefusals } from '../../accounts/brands/brands.ts'
import { describeRoute } from '../../api/describe.ts'
import { ifUpdatedAtRefusals } from '../../api/if-updated-at.ts'
import { limitParamSchema } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import { templateContentRefusals } from './content.ts'
import {
  newTemplateSchema,
  templateChangeSchema,
  templatePageSchema,
  templatePreviewSchema,
  templateSchema,
  variablesSchema,
} from './schema.ts'
import {
  changeTemplate,
  createTemplate,
  listTemplates,
  previewTemplate,
  readTemplate,
  removeTemplate,
  type TemplatesDeps,
  templateRefusals,
  templateWriteRefusals,
} from './templates.ts'

const params = t.Object({ slug: t.String({ minLength: 1 }) })
const query = t.Object({ brand_id: t.Optional(t.String()) })

/** The routes of templates. */
export function templateRoutes(deps: TemplatesDeps) {
  return api('templates')
    .post(
      '/v1/templates',
      ({ caller, body, reservation, set }) => {
        set.status = 201
        return createTemplate(deps, caller, body, reservation)
      },
      {
        detail: describeRoute('createTemplate', 'Create a template', templateWriteRefusals),
        scope: 'templates:write',
        body: newTemplateSchema,
        response: { 201: templateSchema },
      },
    )
    .get('/v1/templates', ({ caller, query }) => listTemplates(deps, caller, query), {
      detail: describeRoute('listTemplates', 'List templates', brandRefusals),
      scope: 'templates:read',
      query: t.Object({ limit: limitParamSchema, cursor: t.Optional(t.String()), brand_id: t.Optional(t.String()) }),
      response: templatePageSchema,
    })
    .get(
      '/v1/templates/:slug',
      ({ caller, params, query }) => readTemplate(deps, caller, { slug: params.slug, brandId: query.brand_id }),
      {
        detail: describeRoute('getTemplate', 'Get a template', templateRefusals),
        scope: 'templates:read',
        params,
        query,
        response: templateSchema,
      },
    )
    .patch(
      '/v1/templates/:slug',
      ({ caller, params, query, body, reservation }) =>
        changeTemplate(deps, caller, { slug: params.slug, brandId: query.brand_id }, body, reservation),
      {
        detail: describeRoute('updateTemplate', 'Update a template', [
          ...templateRefusals,
          ...templateWriteRefusals,
          ...ifUpdatedAtRefusals,
        ]),
        scope: 'templates:write',
        params,
        query,
        body: templateChangeSchema,
        response: templateSchema,
      },
    )
    .delete(
      '/v1/templates/:slug',
      ({ caller, params, query, reservation }) =>
        removeTemplate(deps, caller, { slug: params.slug, brandId: query.brand_id }, reservation),
      {
        detail: describeRoute('deleteTemplate', 'Delete a template', templateRefusals),
        scope: 'templates:write',
        params,
        query,
        response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
      },
    )
    .post(
      '/v1/templates/:slug/preview',
      ({ caller, params, body }) =>
        previewTemplate(deps, caller, { slug: params.slug, brandId: body.brand_id }, body.variables),
      {
        detail: describeRoute('previewTemplate', 'Render a template with variables', [
          ...templateRefusals,
          ...templateContentRefusals,
        ]),
        scope: 'templates:read',
        params,
        body: t.Object({ brand_id: t.Optional(t.String()), variables: t.Optional(variablesSchema) }),
        response: templatePreviewSchema,
      },
    )
}
