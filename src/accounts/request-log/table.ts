import { sql } from 'kysely'
import type { Tenant } from '../../api/tenant.ts'
import { type Instant, minuteMs, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import { padToPowerOfTwo } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'

export type RequestLogRow = DatabaseSchema['request_log']

const columns = [
  'id',
  'organization_id',
  'created_at',
  'client_request_id',
  'method',
  'path',
  'status',
  'duration_ms',
  'api_key_id',
  'brand_id',
  'ip',
  'user_agent',
  'error_code',
  'idempotent_replay',
  'email_id',
] as const

/** Inserts the rows whose primary key (organization, created_at) is free. False when some were not inserted. */
export async function insertRequests(db: Db, rows: readonly RequestLogRow[]): Promise<boolean> {
  return (await insertRows(db, 'request_log', padToPowerOfTwo(rows), 'ignore')) === rows.length
}

/** The ids of those of these rows that are in the table. */
export async function selectExistingIds(db: Db, rows: readonly RequestLogRow[]): Promise<ReadonlySet<string>> {
  const byOrganization = Map.groupBy(rows, row => row.organization_id)
  const found = await db
    .selectFrom('request_log')
    .select('id')
    .where(where =>
      where.or(
        Array.from(byOrganization, ([organizationId, organizationRows]) =>
          where.and([
            where('organization_id', '=', organizationId),
            where(
              'created_at',
              'in',
              organizationRows.map(row => row.created_at),
            ),
          ]),
        ),
      ),
    )
    .execute()
  return new Set(found.map(row => row.id))
}

/** Which requests of an organization to select; null: any. */
export interface RequestFilter extends Tenant {
  readonly status: number | null
  readonly method: string | null
}

/** A filtered page scans at most this many rows, so that a rare status costs no more than that. */
const maxScanned = 10_000

/**
 * At most `limit` requests, newest first, made before `before`, and the `before` of the next page; null: this is the last.
 * With a filter that matches few rows a page may hold fewer than `limit` requests although more pages follow.
 */
export async function selectRequests(
  db: Db,
  filter: RequestFilter,
  { before, limit }: { readonly before: Instant | null; readonly limit: number },
): Promise<{ readonly rows: readonly RequestLogRow[]; readonly nextBefore: Instant | null }> {
  const { brandId, status, method } = filter
  const isFiltered = brandId !== null || status !== null || method !== null
  const end = isFiltered ? await selectWindowEnd(db, filter, before) : null
  let query = scoped(db, filter, before).select(columns)
  if (end !== null) query = query.where('created_at', '>=', end)
  if (brandId !== null) query = query.where('brand_id', '=', brandId)
  if (status !== null) query = query.where('status', '=', status)
  if (method !== null) query = query.where('method', '=', method)
  const rows = await query
    .orderBy('created_at', 'desc')
    .limit(sql.lit(limit + 1))
    .execute()
  const page = rows.slice(0, limit)
  return { rows: page, nextBefore: rows.length > limit ? (page.at(-1)?.created_at ?? null) : end }
}

/** A request is logged with the time at which it began: so long before its email at most. */
const mostMsBeforeEmail = 5 * minuteMs

/** The request that created an email; undefined: none with a key did, it is deleted, or 10,000 others came after it. */
export async function selectRequestOfEmail(
  db: Db,
  organizationId: Id<'org'>,
  email: { readonly id: string; readonly created_at: Instant },
): Promise<RequestLogRow | undefined> {
  const filter = { organizationId, brandId: null, status: null, method: null }
  const earliest = plusMs(email.created_at, -mostMsBeforeEmail)
  const end = (await selectWindowEnd(db, filter, email.created_at)) ?? earliest
  return scoped(db, filter, email.created_at)
    .select(columns)
    .where('created_at', '>=', earliest)
    .where('created_at', '>=', end)
    .where('email_id', '=', email.id as Id<'eml'>)
    .where('status', '=', 202)
    .orderBy('created_at', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst()
}

function scoped(db: Db, { organizationId }: RequestFilter, before: Instant | null) {
  const query = db.selectFrom('request_log').where('organization_id', '=', organizationId)
  return before === null ? query : query.where('created_at', '<', before)
}

/** The oldest request that this page scans; null: it scans all. */
async function selectWindowEnd(db: Db, filter: RequestFilter, before: Instant | null): Promise<Instant | null> {
  const row = await scoped(db, filter, before)
    .select('created_at')
    .orderBy('created_at', 'desc')
    .limit(sql.lit(1))
    .offset(sql.lit(maxScanned - 1))
    .executeTakeFirst()
  return row?.created_at ?? null
}
