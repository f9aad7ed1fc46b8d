import { queryOptions } from '@tanstack/react-query'
import { answer, type OrganizationApi } from '../../api/client.ts'
import { previewValues, readValue, type TemplateForm } from './template-form.ts'

/** A slug names a template of one brand. */
export function templateQuery({ organizationId, v1 }: OrganizationApi, brandId: string, slug: string) {
  return queryOptions({
    queryKey: ['templates', 'one', organizationId, brandId, slug],
    queryFn: () =>
      answer(
        v1.GET('/v1/templates/{slug}', {
          params: { path: { slug }, query: { brand_id: brandId } },
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
