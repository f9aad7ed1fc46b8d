import { t } from 'elysia'
import { describeRoute } from '../../api/describe.ts'
import { limitParamSchema } from '../../api/page.ts'
import { api } from '../../api/route.ts'
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
} from './templates.ts'

const params = t.Object({ slug: t.String({ minLength: 1 }) })
const query = t.Object({ brand_id: t.Optional(t.String()) })
const ofBrand = ['brand_required', 'not_found', 'brand_restricted'] as const

/** SPEC section 4: templates. */
export function templateRoutes(deps: TemplatesDeps) {
  return api('templates')
    .post(
      '/v1/templates',
      ({ caller, body, reservation, set }) => {
        set.status = 201
        return createTemplate(deps, caller, body, reservation)
      },
      {
        detail: describeRoute('createTemplate', 'Create a template', [...ofBrand, 'slug_taken', 'template_invalid']),
        scope: 'templates:write',
        body: newTemplateSchema,
        response: { 201: templateSchema },
      },
    )
    .get('/v1/templates', ({ caller, query }) => listTemplates(deps, caller, query), {
      detail: describeRoute('listTemplates', 'List templates', ['invalid_cursor', 'not_found', 'brand_restricted']),
      scope: 'templates:read',
      query: t.Object({ limit: limitParamSchema, cursor: t.Optional(t.String()), brand_id: t.Optional(t.String()) }),
      response: templatePageSchema,
    })
    .get(
      '/v1/templates/:slug',
      ({ caller, params, query }) => readTemplate(deps, caller, { slug: params.slug, brandId: query.brand_id }),
      {
        detail: describeRoute('getTemplate', 'Read a template', ofBrand),
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
        detail: describeRoute('updateTemplate', 'Update a template', [...ofBrand, 'slug_taken', 'template_invalid']),
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
        detail: describeRoute('deleteTemplate', 'Delete a template', ofBrand),
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
        detail: describeRoute('previewTemplate', 'Render a template with variables', [...ofBrand, 'template_invalid']),
        scope: 'templates:read',
        params,
        body: t.Object({ brand_id: t.Optional(t.String()), variables: t.Optional(variablesSchema) }),
        response: templatePreviewSchema,
      },
    )
}
