import type { BrandTenant } from '../../api/tenant.ts'
import type { Db } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import { type OutgoingEmail, readBody } from '../accept/parse-request.ts'
import { renderTemplate, templateContentRefusals, withDefaults } from './content.ts'
import type { TemplateRenderer } from './renderer.ts'
import { selectTemplate, type TemplateRow } from './table.ts'

/** The refusals of {@link fillTemplate}. */
export const fillTemplateRefusals = [
  'template_not_found',
  'template_variable_missing',
  ...templateContentRefusals,
] as const

/**
 * The email with what its template makes of its variables; what the request gave itself stays.
 * @throws Refusal `template_not_found`, `template_variable_missing`, `template_invalid`
 */
export async function fillTemplate(
  outgoing: OutgoingEmail,
  { slug, variables }: NonNullable<OutgoingEmail['template']>,
  tenant: BrandTenant,
  deps: { readonly db: Db; readonly rendering: TemplateRenderer },
): Promise<OutgoingEmail> {
  const template = (await selectTemplate(deps.db, { ...tenant, slug })) ?? unknownTemplate(slug)
  const { values, missing } = withDefaults(template, variables)
  refuseMissing(missing, template)
  const wanted = {
    subject: outgoing.subject === '' ? template.subject : null,
    text: outgoing.text === null ? template.text : null,
    html: outgoing.html === null ? template.html : null,
  }
  const made = await renderTemplate(deps.rendering, tenant.organizationId, wanted, values, 'template')
  return {
    ...outgoing,
    subject: made.subject ?? outgoing.subject,
    text: outgoing.text ?? readBody(made.text ?? undefined, 'text'),
    html: outgoing.html ?? readBody(made.html ?? undefined, 'html'),
  }
}

function unknownTemplate(slug: string): never {
  throw refuse('template_not_found', {
    message: `template: the brand of From has no template ${JSON.stringify(slug.slice(0, 80))}.`,
    param: 'template',
  })
}

function refuseMissing([name, ...others]: readonly string[], { slug }: TemplateRow): void {
  if (name === undefined) return
  throw refuse('template_variable_missing', {
    message: `variables.${name}${others.length > 0 ? ` and ${others.length} more` : ''}: the template ${slug} requires a value.`,
    param: `variables.${name}`,
  })
}
