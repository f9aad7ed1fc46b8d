import { queryOptions } from '@tanstack/react-query'
import { answer, type OrganizationApi } from '../../api/client.ts'
import type { components } from '../../api/generated/v1.ts'
import type { TemplateForm } from './template-form.ts'

export type Template = components['schemas']['Template']

export function templateQuery({ organizationId, brandId, v1 }: OrganizationApi, slug: string) {
  return queryOptions({
    queryKey: ['templates', 'one', organizationId, brandId, slug],
    queryFn: () =>
      answer(
        v1.GET('/v1/templates/{slug}', {
          params: { path: { slug }, query: brandId === null ? {} : { brand_id: brandId } },
        }),
      ),
    // What one writes is not overwritten by what came meanwhile.
    staleTime: 'static',
  })
}

/** What the form renders to with its preview values; a fault of the template is the error. */
export function previewQuery({ organizationId, brandId, app }: OrganizationApi, form: TemplateForm) {
  const { subject, html, text, variables } = form
  const body = {
    ...(subject !== '' && { subject }),
    ...(html !== '' && { html }),
    ...(text !== '' && { text }),
    variables: variables
      .filter(({ name }) => name !== '')
      .map(({ name, required, fallback }) => ({
        name,
        required,
        ...(fallback !== '' && { default: readValue(fallback) }),
      })),
    values: previewValues(form),
  }
  return queryOptions({
    queryKey: ['template-preview', organizationId, brandId, body],
    queryFn: ({ signal }) => answer(app.POST('/app/api/templates/preview', { body, signal })),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
    retry: false,
  })
}

/** The values that are entered for the preview. */
export function previewValues({ variables }: TemplateForm): Readonly<Record<string, unknown>> {
  const given = variables.filter(({ name, value }) => name !== '' && value !== '')
  return Object.fromEntries(given.map(({ name, value }) => [name, readValue(value)]))
}

/** JSON where it is JSON, such as a list; else the text itself. */
export function readValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
