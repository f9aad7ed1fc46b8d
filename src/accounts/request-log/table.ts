import { sql } from 'kysely'
import type { Tenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import { padToPowerOfTwo } from '../../base/database/select-rows.ts'

export type RequestLogRow = DatabaseSchema['request_log']

/** Inserts the rows whose place (organization, created_at) is free; are all of them there now? */
export async function insertRequests(db: Db, rows: readonly RequestLogRow[]): Promise<boolean> {
  return (await insertRows(db, 'request_log', padToPowerOfTwo(rows), 'unless there')) === rows.length
}

/** Of these rows, the ids of those that are there. */
export async function selectExistingIds(db: Db, rows: readonly RequestLogRow[]): Promise<ReadonlySet<string>> {
  const byOrganization = Map.groupBy(rows, row => row.organization_id)
  const found = await db
    .selectFrom('request_log')
    .select('id')
    .where(where =>
      where.or(
        Array.from(byOrganization, ([organizationId, of]) =>
          where.and([
            where('organization_id', '=', organizationId),
            where(
              'created_at',
              'in',
              of.map(row => row.created_at),
            ),
          ]),
        ),
      ),
    )
    .execute()
  return new Set(found.map(row => row.id))
}

/** Which requests of an organization are asked for. */
export interface RequestFilter extends Tenant {
  readonly status: number | null
  readonly method: string | null
}

/** So many of the newest are looked through for one page: a rare status costs no more than that. */
const maxLookedThrough = 10_000

/**
 * At most `limit` requests, newest first, made before `before`; and from where to go on: null when there are no more.
 * Where a filter finds little among many, a page may hold less than `limit`, and still say where to go on.
 */
export async function selectRequests(
  db: Db,
  filter: RequestFilter,
  { before, limit }: { readonly before: Instant | null; readonly limit: number },
): Promise<{ readonly rows: readonly RequestLogRow[]; readonly nextBefore: Instant | null }> {
  const { brandId, status, method } = filter
  const isFiltered = brandId !== null || status !== null || method !== null
  const end = isFiltered ? await selectWindowEnd(db, filter, before) : null
  let query = scoped(db, filter, before).select([
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
  ])
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

function scoped(db: Db, { organizationId }: RequestFilter, before: Instant | null) {
  const query = db.selectFrom('request_log').where('organization_id', '=', organizationId)
  return before === null ? query : query.where('created_at', '<', before)
}

/** The oldest request that this page looks at; null: all of them. */
async function selectWindowEnd(db: Db, filter: RequestFilter, before: Instant | null): Promise<Instant | null> {
  const row = await scoped(db, filter, before)
    .select('created_at')
    .orderBy('created_at', 'desc')
    .limit(sql.lit(1))
    .offset(sql.lit(maxLookedThrough - 1))
    .executeTakeFirst()
  return row?.created_at ?? null
}
