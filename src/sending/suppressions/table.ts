import { type Selectable, sql } from 'kysely'
import type { BrandTenant, Tenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import { padToPowerOfTwo } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'

export type SuppressionRow = Selectable<DatabaseSchema['suppressions']>
export type SuppressionReason = SuppressionRow['reason']

const columns = [
  'id',
  'organization_id',
  'brand_id',
  'email',
  'reason',
  'source_email_id',
  'evidence',
  'created_at',
  'expires_at',
  'unsubscribed_at',
] as const

/** Which suppressions a list shows. */
export interface SuppressionFilter extends Tenant {
  readonly reason: SuppressionReason | null
}

const columnList = sql.raw(columns.join(', '))

/** At most `limit` suppressions that are live at `now`, newest first, older than `after`: a range of one index. */
export async function selectSuppressions(
  db: Db,
  filter: SuppressionFilter,
  { after, limit, now }: { readonly after: Id<'sup'> | null; readonly limit: number; readonly now: Instant },
): Promise<readonly SuppressionRow[]> {
  const { organizationId, brandId, reason } = filter
  const isLive = sql`(expires_at IS NULL OR expires_at > ${now})`
  const conditions = [
    sql`organization_id = ${organizationId}`,
    ...(brandId === null ? [] : [sql`brand_id = ${brandId}`]),
    ...(after === null ? [] : [sql`id < ${after}`]),
    ...(reason === null ? [sql`(${isLive} OR unsubscribed_at IS NOT NULL)`] : [sql`reason = ${reason}`, isLive]),
  ]
  // Forced: left to choose, the servers go through all of an organization for a reason that few have.
  const { rows } = await sql<SuppressionRow>`SELECT ${columnList} FROM suppressions FORCE INDEX (${indexFor(filter)})
    WHERE ${sql.join(conditions, sql` AND `)} ORDER BY id DESC LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

/** The index that answers the filter in the order of the list. */
function indexFor({ brandId, reason }: SuppressionFilter) {
  if (brandId !== null) return sql.raw(reason === null ? 'suppressions_brand' : 'suppressions_brand_reason')
  return sql.raw(reason === null ? 'suppressions_organization' : 'suppressions_reason')
}

/** Whose, and of which address in lower case. */
export interface SuppressionKey extends BrandTenant {
  readonly email: string
}

/** The entry of an address, live or expired. */
export async function selectSuppression(db: Db, key: SuppressionKey): Promise<SuppressionRow | undefined> {
  return at(db, key).select(columns).executeTakeFirst()
}

/** The same, locked until the transaction ends. */
export async function lockSuppression(db: Db, key: SuppressionKey): Promise<SuppressionRow | undefined> {
  return at(db, key).select(columns).forUpdate().executeTakeFirst()
}

function at(db: Db, { organizationId, brandId, email }: SuppressionKey) {
  return db
    .selectFrom('suppressions')
    .where('organization_id', '=', organizationId)
    .where('brand_id', '=', brandId)
    .where('email', '=', email)
}

/** Which of these addresses have an entry of these brands, live or expired; locks nothing. */
export async function selectListed(
  db: Db,
  organizationId: Id<'org'>,
  brandIds: readonly Id<'brd'>[],
  emails: readonly string[],
): Promise<readonly Pick<SuppressionRow, 'brand_id' | 'email'>[]> {
  return db
    .selectFrom('suppressions')
    .select(['brand_id', 'email'])
    .where('organization_id', '=', organizationId)
    .where('brand_id', 'in', padToPowerOfTwo(brandIds))
    .where('email', 'in', padToPowerOfTwo(emails))
    .execute()
}

/** @throws a duplicate on `suppressions_email` when another transaction was first. */
export async function insertSuppressions(db: Db, rows: readonly SuppressionRow[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('suppressions').values(rows).execute()
}

/** @throws a duplicate on `suppressions_email` when another transaction was first. */
export async function insertSuppression(db: Db, row: SuppressionRow): Promise<void> {
  await db.insertInto('suppressions').values(row).execute()
}

export async function deleteSuppression(db: Db, { organization_id, id }: SuppressionRow): Promise<void> {
  await db.deleteFrom('suppressions').where('organization_id', '=', organization_id).where('id', '=', id).execute()
}

export async function updateUnsubscribed(db: Db, { organization_id, id }: SuppressionRow, at: Instant): Promise<void> {
  await db
    .updateTable('suppressions')
    .set({ unsubscribed_at: at })
    .where('organization_id', '=', organization_id)
    .where('id', '=', id)
    .execute()
}

/** At most `limit` that have expired at `now`, locked until the transaction ends; those that another has locked are left out. */
export async function lockExpired(db: Db, now: Instant, limit: number): Promise<readonly SuppressionRow[]> {
  return await db
    .selectFrom('suppressions')
    .select(columns)
    .where('expires_at', '<=', now)
    .where('unsubscribed_at', 'is', null)
    .limit(sql.lit(limit))
    .forUpdate()
    .skipLocked()
    .execute()
}

/** Deletes suppressions that the caller's transaction has locked. */
export async function deleteSuppressions(db: Db, rows: readonly SuppressionRow[]): Promise<void> {
  if (rows.length === 0) return
  await db
    .deleteFrom('suppressions')
    .where(
      'id',
      'in',
      rows.map(row => row.id),
    )
    .execute()
}

/** Turns at most `limit` that have expired at `now` into what outlasts them: that the recipient unsubscribed. */
export async function updateExpiredToUnsubscribed(db: Db, now: Instant, limit: number): Promise<void> {
  await db
    .updateTable('suppressions')
    .set({
      reason: 'unsubscribe',
      source_email_id: null,
      evidence: null,
      created_at: sql<Instant>`unsubscribed_at`,
      expires_at: null,
      unsubscribed_at: null,
    })
    .where('expires_at', '<=', now)
    .where('unsubscribed_at', 'is not', null)
    .limit(sql.lit(limit))
    .execute()
}
