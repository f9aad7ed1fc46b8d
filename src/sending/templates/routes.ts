import { t } from 'elysia'
import { says } from '../../api/describe.ts'
import { limitParam } from '../../api/page.ts'
import { api } from '../../api/route.ts'
import {
  newTemplateShape,
  previewShape,
  templateChangeShape,
  templatePageShape,
  templateShape,
  variablesShape,
} from './schema.ts'
import {
  changeTemplate,
  createTemplate,
  listTemplates,
  previewTemplate,
  readTemplate,
  removeTemplate,
  type TemplatesUse,
} from './templates.ts'

const params = t.Object({ slug: t.String({ minLength: 1 }) })
const query = t.Object({ brand_id: t.Optional(t.String()) })
const ofBrand = ['brand_required', 'not_found', 'brand_restricted'] as const

/** SPEC section 4: templates. */
export function templateRoutes(use: TemplatesUse) {
  return api('templates')
    .post(
      '/v1/templates',
      ({ caller, body, reservation, set }) => {
        set.status = 201
        return createTemplate(use, caller, body, reservation)
      },
      {
        detail: says('createTemplate', 'Create a template', [...ofBrand, 'slug_taken', 'template_invalid']),
        scope: 'templates:write',
        body: newTemplateShape,
        response: { 201: templateShape },
      },
    )
    .get('/v1/templates', ({ caller, query }) => listTemplates(use, caller, query), {
      detail: says('listTemplates', 'List templates', ['invalid_cursor', 'not_found', 'brand_restricted']),
      scope: 'templates:read',
      query: t.Object({ limit: limitParam, cursor: t.Optional(t.String()), brand_id: t.Optional(t.String()) }),
      response: templatePageShape,
    })
    .get(
      '/v1/templates/:slug',
      ({ caller, params, query }) => readTemplate(use, caller, { slug: params.slug, brandId: query.brand_id }),
      {
        detail: says('getTemplate', 'Read a template', ofBrand),
        scope: 'templates:read',
        params,
        query,
        response: templateShape,
      },
    )
    .patch(
      '/v1/templates/:slug',
      ({ caller, params, query, body, reservation }) =>
        changeTemplate(use, caller, { slug: params.slug, brandId: query.brand_id }, body, reservation),
      {
        detail: says('updateTemplate', 'Update a template', [...ofBrand, 'slug_taken', 'template_invalid']),
        scope: 'templates:write',
        params,
        query,
        body: templateChangeShape,
        response: templateShape,
      },
    )
    .delete(
      '/v1/templates/:slug',
      ({ caller, params, query, reservation }) =>
        removeTemplate(use, caller, { slug: params.slug, brandId: query.brand_id }, reservation),
      {
        detail: says('deleteTemplate', 'Delete a template', ofBrand),
        scope: 'templates:write',
        params,
        query,
        response: t.Object({ id: t.String(), deleted: t.Literal(true) }),
      },
    )
    .post(
      '/v1/templates/:slug/preview',
      ({ caller, params, body }) =>
        previewTemplate(use, caller, { slug: params.slug, brandId: body.brand_id }, body.variables),
      {
        detail: says('previewTemplate', 'Render a template with variables', [...ofBrand, 'template_invalid']),
        scope: 'templates:read',
        params,
        body: t.Object({ brand_id: t.Optional(t.String()), variables: t.Optional(variablesShape) }),
        response: previewShape,
      },
    )
}
