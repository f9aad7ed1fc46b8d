import { brandIdRefusals, loadBrand, resolveBrandId } from '../../accounts/brands/brands.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { applyChange, requireUnchanged } from '../../api/if-updated-at.ts'
import { pageSize, readIdCursor } from '../../api/page.ts'
import type { Tenant } from '../../api/tenant.ts'
import type { Clock } from '../../base/clock.ts'
import { type Db, inTransaction, isDuplicate } from '../../base/database/database.ts'
import { newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { pageWithinBytes } from '../page-within-bytes.ts'
import {
  readDeclaredVariables,
  readSources,
  readVariables,
  renderTemplate,
  requireValidSources,
  type TemplateVariables,
  templateContentRefusals,
  withDefaults,
} from './content.ts'
import type { TemplateRenderer } from './renderer.ts'
import {
  type NewTemplate,
  type TemplateChange,
  type TemplateJson,
  type TemplatePreview,
  toJsonTemplate,
} from './schema.ts'
import {
  deleteTemplate,
  insertTemplate,
  lockTemplate,
  selectTemplate,
  selectTemplateExists,
  selectTemplateSizes,
  selectTemplates,
  type TemplateKey,
  type TemplateRow,
  updateTemplate,
} from './table.ts'

export interface TemplatesDeps {
  readonly db: Db
  readonly clock: Clock
  readonly renderer: TemplateRenderer
}

/** A template as the path and `brand_id` of a request name it. */
export interface TemplateName {
  readonly slug: string
  readonly brandId: string | undefined
}

/**
 * Creates a template.
 * @throws Refusal `brand_required`, `not_found` and `brand_restricted` for `brand_id`, `slug_taken`, `template_invalid`
 */
export async function createTemplate(
  deps: TemplatesDeps,
  tenant: Tenant,
  body: NewTemplate,
  reservation?: Reservation,
): Promise<TemplateJson> {
  const sources = readSources(body)
  const variables = readDeclaredVariables(body.variables)
  const { organizationId } = tenant
  const brandId = await resolveBrandId(deps.db, tenant, body.brand_id)
  const { slug, name = slug } = body
  if (await selectTemplateExists(deps.db, { organizationId, brandId, slug })) throw slugTaken(slug)
  await requireValidSources(deps.renderer, organizationId, sources)
  const at = deps.clock.now()
  const row: TemplateRow = {
    id: newId('tpl'),
    organization_id: organizationId,
    brand_id: brandId,
    slug,
    name,
    ...sources,
    variables,
    created_at: at,
    updated_at: at,
  }
  const template = toJsonTemplate(row)
  await refuseTakenSlug(slug, () =>
    inTransaction(deps.db, async tx => {
      await insertTemplate(tx, row)
      await storeResponse(tx, reservation, { status: 201, body: template })
    }),
  )
  return template
}

/** The query parameters of a list of templates. */
export interface TemplateQuery {
  readonly limit?: string
  readonly cursor?: string
  readonly brand_id?: string
}

/** Templates, newest first. @throws Refusal `invalid_cursor`; for `brand_id` `not_found`, `brand_restricted` */
export async function listTemplates(
  { db }: TemplatesDeps,
  tenant: Tenant,
  query: TemplateQuery,
): Promise<{ data: TemplateJson[]; next_cursor: string | null }> {
  const { organizationId } = tenant
  const brandId =
    query.brand_id === undefined ? tenant.brandId : (await loadBrand(db, tenant, query.brand_id, 'brand_id')).id
  const after = readIdCursor('tpl', query.cursor)
  const limit = pageSize(query.limit)
  const found = await selectTemplateSizes(db, { organizationId, brandId, after, limit: limit + 1 })
  const { ids, nextCursor } = pageWithinBytes(found, limit)
  return { data: (await selectTemplates(db, organizationId, ids)).map(toJsonTemplate), next_cursor: nextCursor }
}

/** One template. @throws Refusal `not_found`, and those of `brand_id` */
export async function readTemplate({ db }: TemplatesDeps, tenant: Tenant, name: TemplateName): Promise<TemplateJson> {
  const key = await keyOf(db, tenant, name)
  return toJsonTemplate((await selectTemplate(db, key)) ?? notFound(key))
}

/**
 * Changes what is given.
 * @throws Refusal `not_found`, `slug_taken`, `template_invalid`, `changed_since_read`, and those of `brand_id`
 */
export async function changeTemplate(
  deps: TemplatesDeps,
  tenant: Tenant,
  name: TemplateName,
  change: TemplateChange,
  reservation?: Reservation,
): Promise<TemplateJson> {
  const changed = readChange(change)
  const key = await keyOf(deps.db, tenant, name)
  const { slug = key.slug } = change
  if (!(await selectTemplateExists(deps.db, key))) notFound(key)
  if (slug !== key.slug && (await selectTemplateExists(deps.db, { ...key, slug }))) throw slugTaken(slug)
  await requireValidSources(deps.renderer, tenant.organizationId, {
    subject: null,
    text: null,
    html: null,
    ...changed,
  })
  return refuseTakenSlug(slug, () =>
    inTransaction(deps.db, async tx => {
      const row = (await lockTemplate(tx, key)) ?? notFound(key)
      requireUnchanged(`The template ${key.slug}`, row, change)
      const next = applyChange(row, changed, deps.clock.now(), toJsonTemplate)
      if (next !== row) await updateTemplate(tx, next)
      const body = toJsonTemplate(next)
      await storeResponse(tx, reservation, { status: 200, body })
      return body
    }),
  )
}

function readChange(change: TemplateChange): Partial<TemplateRow> {
  const { subject, text, html } = readSources(change)
  return {
    ...(change.slug === undefined ? {} : { slug: change.slug }),
    ...(change.name === undefined ? {} : { name: change.name }),
    ...(change.subject === undefined ? {} : { subject }),
    ...(change.text === undefined ? {} : { text }),
    ...(change.html === undefined ? {} : { html }),
    ...(change.variables === undefined ? {} : { variables: readDeclaredVariables(change.variables) }),
  }
}

/** Deletes a template. @throws Refusal `not_found`, and those of `brand_id` */
export async function removeTemplate(
  deps: TemplatesDeps,
  tenant: Tenant,
  name: TemplateName,
  reservation?: Reservation,
): Promise<{ id: string; deleted: true }> {
  const key = await keyOf(deps.db, tenant, name)
  return inTransaction(deps.db, async tx => {
    const row = (await lockTemplate(tx, key)) ?? notFound(key)
    await deleteTemplate(tx, row)
    const body = { id: row.id, deleted: true } as const
    await storeResponse(tx, reservation, { status: 200, body })
    return body
  })
}

/**
 * Renders a template with these variables; required ones that are missing count as empty.
 * @throws Refusal `not_found`, `template_invalid`, and those of `brand_id`
 */
export async function previewTemplate(
  deps: TemplatesDeps,
  tenant: Tenant,
  name: TemplateName,
  variables: TemplateVariables | undefined,
): Promise<TemplatePreview> {
  const given = readVariables(variables)
  const key = await keyOf(deps.db, tenant, name)
  const template = (await selectTemplate(deps.db, key)) ?? notFound(key)
  const { values, missing } = withDefaults(template, given)
  const { subject, text, html } = await renderTemplate(
    deps.renderer,
    tenant.organizationId,
    readSources(template),
    values,
  )
  return { subject, text, html, missing_variables: [...missing] }
}

/** A template that is not stored, and the values of its variables. */
export interface UnsavedTemplate extends Pick<NewTemplate, 'subject' | 'text' | 'html' | 'variables'> {
  readonly values?: TemplateVariables
}

/** Renders a template while it is written. @throws Refusal `invalid_request`, `template_invalid` */
export async function previewUnsavedTemplate(
  renderer: TemplatesDeps['renderer'],
  { organizationId }: Tenant,
  { values: given, ...template }: UnsavedTemplate,
): Promise<TemplatePreview> {
  const { values, missing } = withDefaults(
    { variables: readDeclaredVariables(template.variables) },
    readVariables(given),
  )
  const { subject, text, html } = await renderTemplate(renderer, organizationId, readSources(template), values)
  return { subject, text, html, missing_variables: [...missing] }
}

async function keyOf(db: Db, tenant: Tenant, { slug, brandId }: TemplateName): Promise<TemplateKey> {
  return { organizationId: tenant.organizationId, brandId: await resolveBrandId(db, tenant, brandId), slug }
}

/** The refusals of every operation on one template. */
export const templateRefusals = [...brandIdRefusals, 'not_found'] as const

function notFound({ slug }: TemplateKey): never {
  throw refuse('not_found', { message: `The brand has no template ${slug.slice(0, 80)}.` })
}

async function refuseTakenSlug<Result>(slug: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!isDuplicate(error, 'templates_slug')) throw error
    throw slugTaken(slug)
  }
}

/** The refusals of writing a template. */
export const templateWriteRefusals = [...brandIdRefusals, 'slug_taken', ...templateContentRefusals] as const

function slugTaken(slug: string) {
  return refuse('slug_taken', {
    message: `The slug "${slug}" belongs to another template of the brand.`,
    param: 'slug',
  })
}
