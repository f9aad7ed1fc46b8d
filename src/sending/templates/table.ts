import { sql } from 'kysely'
import type { BrandTenant, Tenant } from '../../api/tenant.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import { selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'

export type TemplateRow = DatabaseSchema['templates']

const columns = [
  'id',
  'organization_id',
  'brand_id',
  'slug',
  'name',
  'subject',
  'text',
  'html',
  'variables',
  'created_at',
  'updated_at',
] as const

/** What identifies a template: its brand, and its slug there. */
export interface TemplateKey extends BrandTenant {
  readonly slug: string
}

const slugForm = /^[a-z0-9-]{1,63}$/

function at(db: Db, { organizationId, brandId, slug }: TemplateKey) {
  return db
    .selectFrom('templates')
    .where('organization_id', '=', organizationId)
    .where('brand_id', '=', brandId)
    .where('slug', '=', slug)
}

/** The template; undefined: there is none, or the text cannot be a slug. */
export async function selectTemplate(db: Db, key: TemplateKey): Promise<TemplateRow | undefined> {
  // The column is ASCII, and the server refuses to compare it with other text.
  if (!slugForm.test(key.slug)) return undefined
  const [row] = await selectRows<TemplateRow>(
    db,
    `SELECT ${columns.join(', ')} FROM templates WHERE organization_id = ? AND brand_id = ? AND slug = ?`,
    [key.organizationId, key.brandId, key.slug],
  )
  return row
}

/** The same, locked until the transaction ends. */
export async function lockTemplate(db: Db, key: TemplateKey): Promise<TemplateRow | undefined> {
  return slugForm.test(key.slug) ? await at(db, key).select(columns).forUpdate().executeTakeFirst() : undefined
}

/** Is there such a template? */
export async function selectTemplateExists(db: Db, key: TemplateKey): Promise<boolean> {
  return slugForm.test(key.slug) && (await at(db, key).select('id').executeTakeFirst()) !== undefined
}

/** @throws a duplicate on `templates_slug` when the brand has one of this slug. */
export async function insertTemplate(db: Db, row: TemplateRow): Promise<void> {
  await db.insertInto('templates').values(row).execute()
}

/** @throws a duplicate on `templates_slug` when the brand has one of this slug. */
export async function updateTemplate(db: Db, { organization_id, id, ...row }: TemplateRow): Promise<void> {
  await db
    .updateTable('templates')
    .set(row)
    .where('organization_id', '=', organization_id)
    .where('id', '=', id)
    .execute()
}

export async function deleteTemplate(db: Db, { organization_id, id }: TemplateRow): Promise<void> {
  await db.deleteFrom('templates').where('organization_id', '=', organization_id).where('id', '=', id).execute()
}

/** Which templates a list shows, newest first. */
export interface TemplateListFilter extends Tenant {
  /** Only those older than this one. */
  readonly after: Id<'tpl'> | null
  readonly limit: number
}

/** The ids of at most `limit` templates, with their sizes in a response. */
export async function selectTemplateSizes(
  db: Db,
  { organizationId, brandId, after, limit }: TemplateListFilter,
): Promise<readonly { readonly id: Id<'tpl'>; readonly bytes: number }[]> {
  const conditions = [
    sql`organization_id = ${organizationId}`,
    ...(brandId === null ? [] : [sql`brand_id = ${brandId}`]),
    ...(after === null ? [] : [sql`id < ${after}`]),
  ]
  // Forced: left to choose, the servers go through all of an organization, or of all.
  const index = sql.raw(brandId === null ? 'templates_organization' : 'templates_brand')
  const { rows } = await sql<{ readonly id: Id<'tpl'>; readonly bytes: number }>`SELECT id,
    COALESCE(LENGTH(text), 0) + COALESCE(LENGTH(html), 0) + LENGTH(variables) AS bytes
    FROM templates FORCE INDEX (${index})
    WHERE ${sql.join(conditions, sql` AND `)} ORDER BY id DESC LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

/** These templates, newest first. */
export async function selectTemplates(
  db: Db,
  organizationId: Id<'org'>,
  ids: readonly Id<'tpl'>[],
): Promise<readonly TemplateRow[]> {
  if (ids.length === 0) return []
  return await db
    .selectFrom('templates')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .orderBy('id', 'desc')
    .execute()
}
