import type { BrandTenant } from '../../api/tenant.ts'
import type { Db } from '../../base/database/database.ts'
import { timed } from '../../base/observability/metrics.ts'
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

interface FillDeps {
  readonly db: Db
  readonly renderer: TemplateRenderer
}

/**
 * The email with what its template renders to; what the request itself gives stays, and an email without a template is as
 * it was.
 * @throws Refusal `template_not_found`, `template_variable_missing`, `template_invalid`
 */
export async function fillTemplate(email: OutgoingEmail, tenant: BrandTenant, deps: FillDeps): Promise<OutgoingEmail> {
  const { template } = email
  return template === null ? email : timed('out', 'template', () => fill(email, template, tenant, deps))
}

async function fill(
  email: OutgoingEmail,
  { slug, variables }: NonNullable<OutgoingEmail['template']>,
  tenant: BrandTenant,
  { db, renderer }: FillDeps,
): Promise<OutgoingEmail> {
  const template = (await selectTemplate(db, { ...tenant, slug })) ?? unknownTemplate(slug)
  const { values, missing } = withDefaults(template, variables)
  refuseMissing(missing, template)
  const sources = {
    subject: email.subject === '' ? template.subject : null,
    text: email.text === null ? template.text : null,
    html: email.html === null ? template.html : null,
  }
  const rendered = await renderTemplate(renderer, tenant.organizationId, sources, values, 'template')
  return {
    ...email,
    subject: rendered.subject ?? email.subject,
    text: email.text ?? readBody(rendered.text ?? undefined, 'text'),
    html: email.html ?? readBody(rendered.html ?? undefined, 'html'),
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
