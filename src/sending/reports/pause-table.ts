import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** How many emails of a brand were sent, bounced and complained about, in a time window. */
export interface BrandSendCounts {
  /** Accepted or permanently refused by the provider. */
  readonly sent: number
  /** Permanently, because of a recipient. */
  readonly bounced: number
  readonly complained: number
}

/** At most `limit` brands after `after`, by id. */
export async function selectBrandIds(db: Db, after: string, limit: number): Promise<readonly Id<'brd'>[]> {
  const rows = await db
    .selectFrom('brands')
    .select('id')
    .where('id', '>', after as Id<'brd'>)
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute()
  return rows.map(row => row.id)
}

/** Those of these brands whose emails since `since` bounced or got complaints, and how many. */
export async function countBouncesAndComplaints(
  db: Db,
  brandIds: readonly Id<'brd'>[],
  since: Instant,
): Promise<readonly (Omit<BrandSendCounts, 'sent'> & { readonly brandId: Id<'brd'>; readonly since: Instant })[]> {
  const { rows } = await sql<{
    readonly brandId: Id<'brd'>
    readonly bounced: number
    readonly complained: number
    readonly countedFrom: Instant | null
  }>`
    SELECT e.brand_id AS brandId, MAX(p.counted_from) AS countedFrom,
      COUNT(DISTINCT CASE WHEN v.type = 'bounced' THEN e.id END) AS bounced,
      COUNT(DISTINCT CASE WHEN v.type = 'complained' THEN e.id END) AS complained
    FROM emails e INNER JOIN email_events v ON v.email_id = e.id LEFT JOIN brand_pauses p ON p.brand_id = e.brand_id
    WHERE e.brand_id IN (${sql.join(brandIds)}) AND e.status IN ('bounced', 'complained', 'failed', 'rejected')
      AND e.created_at >= ${since} AND (p.counted_from IS NULL OR e.created_at >= p.counted_from)
      AND (v.type = 'complained' OR (v.type = 'bounced'
        AND JSON_UNQUOTE(JSON_EXTRACT(v.bounce, '$.type')) = 'permanent'
        AND JSON_UNQUOTE(JSON_EXTRACT(v.bounce, '$.scope')) = 'recipient'))
    GROUP BY e.brand_id`.execute(db)
  return rows.map(({ brandId, bounced, complained, countedFrom }) => ({
    brandId,
    bounced: Number(bounced),
    complained: Number(complained),
    since: countedFrom !== null && countedFrom > since ? countedFrom : since,
  }))
}

/** How many emails of a brand, accepted since `since`, the provider accepted or permanently refused. */
export async function countSent(db: Db, brandId: Id<'brd'>, since: Instant): Promise<number> {
  const row = await db
    .selectFrom('emails')
    .select(sql<number>`COUNT(*)`.as('count'))
    .where('brand_id', '=', brandId)
    .where('status', 'in', ['sent', 'delivered', 'bounced', 'complained'])
    .where('created_at', '>=', since)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** Pauses the sending of a brand, in the caller's transaction; false: it is paused already. */
export async function pauseBrand(tx: Db, brandId: Id<'brd'>, reason: string, at: Instant): Promise<boolean> {
  const known = await lockPause(tx, brandId)
  if (known?.paused_at) return false
  await tx
    .insertInto('brand_pauses')
    .values({ brand_id: brandId, paused_at: at, reason, counted_from: at })
    .onDuplicateKeyUpdate({ paused_at: at, reason })
    .execute()
  return true
}

/**
 * Resumes the sending of a brand, in the caller's transaction; what it sent before is not counted any more. False: it is not
 * paused.
 */
export async function resumeBrand(tx: Db, brandId: Id<'brd'>, at: Instant): Promise<boolean> {
  const known = await lockPause(tx, brandId)
  if (!known?.paused_at) return false
  await tx
    .updateTable('brand_pauses')
    .set({ paused_at: null, reason: null, counted_from: at })
    .where('brand_id', '=', brandId)
    .execute()
  return true
}

async function lockPause(db: Db, brandId: Id<'brd'>) {
  return db
    .selectFrom('brand_pauses')
    .select('paused_at')
    .where('brand_id', '=', brandId)
    .forUpdate()
    .executeTakeFirst()
}

/** Those of these brands that are paused. */
export async function selectPausedBrandIds(db: Db, brandIds: readonly Id<'brd'>[]): Promise<ReadonlySet<Id<'brd'>>> {
  if (brandIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('brand_pauses')
    .select('brand_id')
    .where('brand_id', 'in', brandIds)
    .where('paused_at', 'is not', null)
    .execute()
  return new Set(rows.map(row => row.brand_id))
}

/** A brand that is paused. */
export interface PausedBrand {
  readonly brandId: Id<'brd'>
  readonly name: string
  readonly organizationId: Id<'org'>
  readonly pausedAt: Instant | null
  readonly reason: string | null
}

/** The paused brands of an organization, or of all, the longest paused first. */
export async function selectPausedBrands(
  db: Db,
  organizationId: Id<'org'> | null = null,
): Promise<readonly PausedBrand[]> {
  const query = db
    .selectFrom('brand_pauses')
    .innerJoin('brands', 'brands.id', 'brand_pauses.brand_id')
    .select(['brands.id as brandId', 'brands.name', 'brands.organization_id as organizationId'])
    .select(['brand_pauses.paused_at as pausedAt', 'brand_pauses.reason'])
    .where('brand_pauses.paused_at', 'is not', null)
    .orderBy('brand_pauses.paused_at')
  return (organizationId === null ? query : query.where('brands.organization_id', '=', organizationId)).execute()
}
