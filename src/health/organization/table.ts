import { type RawBuilder, sql } from 'kysely'
import type { Tenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type EmailStatus, folders } from '../../base/database/schema.ts'

/** No count of a list goes further: what is beyond is `more`. */
export const maxCounted = 10_000

/** How many rows there are, up to a limit. */
export interface BoundedCount {
  readonly count: number
  /** There are more than `count`. */
  readonly more: boolean
}

/** A count, and the earliest time among the rows; null: there are none. */
export interface CountSince extends BoundedCount {
  readonly since: Instant | null
}

/** From `from`, before `to`. */
export interface Span {
  readonly from: Instant
  readonly to: Instant
}

export function boundedCount(found: number, most: number): BoundedCount {
  return { count: Math.min(found, most), more: found > most }
}

export function all(conditions: readonly (RawBuilder<unknown> | null)[]) {
  return sql.join(
    conditions.filter(condition => condition !== null),
    sql` AND `,
  )
}

/** Of the organization and, if it is narrowed, of its brand. */
export function isOf({ organizationId, brandId }: Tenant) {
  return [sql`organization_id = ${organizationId}`, brandId === null ? null : sql`brand_id = ${brandId}`]
}

// Every index on emails and messages is forced: with young statistics MariaDB goes through all of an organization's rows.
// Those that begin with a brand do not hold the organization, which the brand implies: without it they answer alone.

export function isIndexedFor({ organizationId, brandId }: Tenant) {
  return brandId === null ? sql`organization_id = ${organizationId}` : sql`brand_id = ${brandId}`
}

export function emailsByTime(tenant: Tenant) {
  return sql.raw(`emails FORCE INDEX (${tenant.brandId === null ? 'emails_created' : 'emails_brand'})`)
}

export function emailsByStatus(tenant: Tenant) {
  return sql.raw(`emails FORCE INDEX (${tenant.brandId === null ? 'emails_status' : 'emails_brand_status'})`)
}

export function messagesByFolder(tenant: Tenant) {
  return sql.raw(`messages FORCE INDEX (${tenant.brandId === null ? 'messages_organization' : 'messages_brand'})`)
}

/** Counts what `rows` (a SELECT without LIMIT, of a column named `at`) gives, up to {@link maxCounted}. */
async function countUpTo(db: Db, rows: RawBuilder<unknown>): Promise<CountSince> {
  const { rows: found } = await sql<{ readonly found: string; readonly since: Instant | null }>`
    SELECT COUNT(*) AS found, MIN(at) AS since FROM (${rows} LIMIT ${sql.lit(maxCounted + 1)}) AS bounded`.execute(db)
  return { ...boundedCount(Number(found[0]?.found ?? 0), maxCounted), since: found[0]?.since ?? null }
}

/** The domains whose records are not all verified; since when the first of them is set up. */
export function countUnreadyDomains(db: Db, tenant: Tenant): Promise<CountSince> {
  return countUpTo(
    db,
    sql`SELECT created_at AS at FROM domains WHERE ${all([...isOf(tenant), sql`status <> 'verified'`])}`,
  )
}

/** When an email was sent stands in no index: so many are looked at, the oldest. */
const maxLookedAt = 1000

/** The emails accepted in `span` that are `sent`, and were sent before its end; counted up to 1,000. */
export async function countSentWithoutReport(db: Db, tenant: Tenant, span: Span): Promise<CountSince> {
  const { rows } = await sql<{ readonly at: Instant | null }>`SELECT STRAIGHT_JOIN emails.sent_at AS at
    FROM (SELECT id FROM ${emailsByStatus(tenant)} WHERE ${hasStatusIn(tenant, 'sent', span)}
      ORDER BY created_at LIMIT ${sql.lit(maxLookedAt + 1)}) AS oldest
    INNER JOIN emails ON emails.id = oldest.id`.execute(db)
  const sent = rows.flatMap(({ at }) => (at !== null && at < span.to ? [at] : []))
  const since = sent.reduce<Instant | null>((first, at) => (first === null || at < first ? at : first), null)
  return { ...boundedCount(sent.length, maxLookedAt), since }
}

/** The messages in the quarantine; since when the first of them is. */
export function countQuarantined(db: Db, tenant: Tenant): Promise<CountSince> {
  return countUpTo(
    db,
    sql`SELECT received_at AS at FROM ${messagesByFolder(tenant)}
      WHERE ${isIndexedFor(tenant)} AND folder = 'quarantine' ORDER BY received_at`,
  )
}

/** The emails accepted in `span` that have this status now. */
export function countEmails(db: Db, tenant: Tenant, status: EmailStatus, span: Span): Promise<CountSince> {
  return countUpTo(
    db,
    sql`SELECT created_at AS at FROM ${emailsByStatus(tenant)}
      WHERE ${hasStatusIn(tenant, status, span)} ORDER BY created_at`,
  )
}

function hasStatusIn(tenant: Tenant, status: EmailStatus, { from, to }: Span) {
  return sql`${isIndexedFor(tenant)} AND status = ${status} AND created_at >= ${from} AND created_at < ${to}`
}

/** Where the newest {@link maxCounted} emails of `span` begin: at its own start, where it has fewer. */
export async function selectSampleStart(db: Db, tenant: Tenant, { from, to }: Span): Promise<Instant> {
  const { rows } = await sql<{ readonly at: Instant }>`SELECT created_at AS at FROM ${emailsByTime(tenant)}
    WHERE ${isIndexedFor(tenant)} AND created_at >= ${from} AND created_at < ${to}
    ORDER BY created_at DESC LIMIT 1 OFFSET ${sql.lit(maxCounted - 1)}`.execute(db)
  return rows[0]?.at ?? from
}

/** The paused brands, the longest paused first. */
export async function selectBrandPauses(
  db: Db,
  { organizationId, brandId }: Tenant,
): Promise<readonly { readonly at: Instant | null; readonly reason: string | null }[]> {
  let query = db
    .selectFrom('brands')
    .innerJoin('brand_pauses', 'brand_pauses.brand_id', 'brands.id')
    .select(['brand_pauses.paused_at as at', 'brand_pauses.reason'])
    .where('brands.organization_id', '=', organizationId)
    .where('brand_pauses.paused_at', 'is not', null)
  if (brandId !== null) query = query.where('brands.id', '=', brandId)
  return query
    .orderBy('brand_pauses.paused_at')
    .limit(sql.lit(maxCounted + 1))
    .execute()
}

/** When each webhook that is disabled was so, unless somebody of the organization did it, the longest first. */
export async function selectDisabledWebhooks(
  db: Db,
  { organizationId, brandId }: Tenant,
): Promise<readonly { readonly at: Instant | null }[]> {
  let query = db
    .selectFrom('webhooks')
    .select('disabled_at as at')
    .where('organization_id', '=', organizationId)
    .where('disabled_at', 'is not', null)
    .where('disabled_reason', '!=', 'requested')
  if (brandId !== null) query = query.where('brand_id', '=', brandId)
  return query
    .orderBy('disabled_at')
    .limit(sql.lit(maxCounted + 1))
    .execute()
}

/** What is counted by the hour: messages received, and emails accepted. */
export type HourlyKind = 'received' | 'accepted'

/** How many rows there are in each span, each counted up to `most` and one. */
export async function countInSpans(
  db: Db,
  tenant: Tenant,
  kind: HourlyKind,
  spans: readonly Span[],
  most: number,
): Promise<readonly number[]> {
  const counts = spans.map(
    (span, i) =>
      sql`(SELECT COUNT(*) FROM (${rowsIn(tenant, kind, span)} LIMIT ${sql.lit(most + 1)}) AS bounded) AS ${sql.ref(`n${i}`)}`,
  )
  const { rows } = await sql<Record<string, string>>`SELECT ${sql.join(counts)}`.execute(db)
  return spans.map((_, i) => Number(rows[0]?.[`n${i}`] ?? 0))
}

function rowsIn(tenant: Tenant, kind: HourlyKind, { from, to }: Span) {
  if (kind === 'accepted')
    return sql`SELECT 1 AS one FROM ${emailsByTime(tenant)}
      WHERE ${isIndexedFor(tenant)} AND created_at >= ${from} AND created_at < ${to}`
  return sql`SELECT 1 AS one FROM ${messagesByFolder(tenant)}
    WHERE ${isIndexedFor(tenant)} AND folder IN (${sql.join(folders)}) AND received_at >= ${from} AND received_at < ${to}`
}
