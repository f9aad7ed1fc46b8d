import { brandFor, brandOf, type Owner } from '../../accounts/brands/brands.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeAnswer } from '../../api/idempotency/store.ts'
import { pageSize } from '../../api/page.ts'
import type { Clock } from '../../base/clock.ts'
import { type Db, inTransaction, isDuplicate } from '../../base/database/database.ts'
import { newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { boundPage, readPlace } from '../emails/bounded-page.ts'
import {
  readDeclared,
  readSources,
  readVariables,
  refuseFaulty,
  renderTemplate,
  type Variables,
  withDefaults,
} from './content.ts'
import type { Rendering } from './rendering.ts'
import { type NewTemplate, type Preview, showTemplate, type TemplateChange, type TemplateShape } from './schema.ts'
import {
  deleteTemplate,
  findTemplate,
  hasTemplate,
  insertTemplate,
  lockTemplate,
  selectTemplateSizes,
  selectTemplates,
  type TemplatePlace,
  type TemplateRow,
  updateTemplate,
} from './table.ts'

/** What the work on templates uses. */
export interface TemplatesUse {
  readonly db: Db
  readonly clock: Clock
  readonly rendering: Rendering
}

/** A template as a path and `brand_id` name it. */
export interface TemplateName {
  readonly slug: string
  readonly brandId: string | undefined
}

/**
 * Makes a template.
 * @throws Refusal `brand_required`, `not_found` and `brand_restricted` for `brand_id`, `slug_taken`, `template_invalid`
 */
export async function createTemplate(
  use: TemplatesUse,
  owner: Owner,
  body: NewTemplate,
  reservation?: Reservation,
): Promise<TemplateShape> {
  const sources = readSources(body)
  const variables = readDeclared(body.variables)
  const { organizationId } = owner
  const brandId = await brandFor(use.db, owner, body.brand_id)
  const { slug, name = slug } = body
  if (await hasTemplate(use.db, { organizationId, brandId, slug })) throw slugTaken(slug)
  await refuseFaulty(use.rendering, organizationId, sources)
  const at = use.clock.now()
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
  const shape = showTemplate(row)
  await unlessTaken(slug, () =>
    inTransaction(use.db, async tx => {
      await insertTemplate(tx, row)
      await storeAnswer(tx, reservation, { status: 201, body: shape, at })
    }),
  )
  return shape
}

/** Which templates a list shows, as the query says it. */
export interface TemplateQuery {
  readonly limit?: string
  readonly cursor?: string
  readonly brand_id?: string
}

/** Templates, newest first. @throws Refusal `invalid_cursor`; for `brand_id` `not_found`, `brand_restricted` */
export async function listTemplates(
  { db }: TemplatesUse,
  owner: Owner,
  query: TemplateQuery,
): Promise<{ data: TemplateShape[]; next_cursor: string | null }> {
  const { organizationId } = owner
  const brandId =
    query.brand_id === undefined ? owner.brandId : (await brandOf(db, owner, query.brand_id, 'brand_id')).id
  const after = readPlace('tpl', query.cursor)
  const limit = pageSize(query.limit)
  const found = await selectTemplateSizes(db, { organizationId, brandId, after, limit: limit + 1 })
  const { ids, nextCursor } = boundPage(found, limit)
  return { data: (await selectTemplates(db, organizationId, ids)).map(showTemplate), next_cursor: nextCursor }
}

/** One template. @throws Refusal `not_found`, and those of `brand_id` */
export async function readTemplate({ db }: TemplatesUse, owner: Owner, name: TemplateName): Promise<TemplateShape> {
  const place = await placeOf(db, owner, name)
  return showTemplate((await findTemplate(db, place)) ?? notFound(place))
}

/** Changes what is given. @throws Refusal `not_found`, `slug_taken`, `template_invalid`, and those of `brand_id` */
export async function changeTemplate(
  use: TemplatesUse,
  owner: Owner,
  name: TemplateName,
  change: TemplateChange,
  reservation?: Reservation,
): Promise<TemplateShape> {
  const changed = readChange(change)
  const place = await placeOf(use.db, owner, name)
  const { slug = place.slug } = change
  if (!(await hasTemplate(use.db, place))) notFound(place)
  if (slug !== place.slug && (await hasTemplate(use.db, { ...place, slug }))) throw slugTaken(slug)
  await refuseFaulty(use.rendering, owner.organizationId, { subject: null, text: null, html: null, ...changed })
  return unlessTaken(slug, () =>
    inTransaction(use.db, async tx => {
      const row = (await lockTemplate(tx, place)) ?? notFound(place)
      const at = use.clock.now()
      const next = { ...row, ...changed, updated_at: at }
      await updateTemplate(tx, next)
      const shape = showTemplate(next)
      await storeAnswer(tx, reservation, { status: 200, body: shape, at })
      return shape
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
    ...(change.variables === undefined ? {} : { variables: readDeclared(change.variables) }),
  }
}

/** Deletes a template. @throws Refusal `not_found`, and those of `brand_id` */
export async function removeTemplate(
  use: TemplatesUse,
  owner: Owner,
  name: TemplateName,
  reservation?: Reservation,
): Promise<{ id: string; deleted: true }> {
  const place = await placeOf(use.db, owner, name)
  return inTransaction(use.db, async tx => {
    const row = (await lockTemplate(tx, place)) ?? notFound(place)
    await deleteTemplate(tx, row)
    const answer = { id: row.id, deleted: true } as const
    await storeAnswer(tx, reservation, { status: 200, body: answer, at: use.clock.now() })
    return answer
  })
}

/**
 * What a template makes of these variables; required ones that are missing count as empty.
 * @throws Refusal `not_found`, `template_invalid`, and those of `brand_id`
 */
export async function previewTemplate(
  use: TemplatesUse,
  owner: Owner,
  name: TemplateName,
  variables: Variables | undefined,
): Promise<Preview> {
  const given = readVariables(variables)
  const place = await placeOf(use.db, owner, name)
  const template = (await findTemplate(use.db, place)) ?? notFound(place)
  const { values, missing } = withDefaults(template, given)
  const { subject, text, html } = await renderTemplate(
    use.rendering,
    owner.organizationId,
    readSources(template),
    values,
  )
  return { subject, text, html, missing_variables: [...missing] }
}

async function placeOf(db: Db, owner: Owner, { slug, brandId }: TemplateName): Promise<TemplatePlace> {
  return { organizationId: owner.organizationId, brandId: await brandFor(db, owner, brandId), slug }
}

function notFound({ slug }: TemplatePlace): never {
  throw refuse('not_found', { message: `The brand has no template ${slug.slice(0, 80)}.` })
}

async function unlessTaken<Result>(slug: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!isDuplicate(error, 'templates_slug')) throw error
    throw slugTaken(slug)
  }
}

function slugTaken(slug: string) {
  return refuse('slug_taken', {
    message: `The slug "${slug}" belongs to another template of the brand.`,
    param: 'slug',
  })
}
