import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** What retention reads of a request. */
export interface RetentionRequestRow {
  readonly id: string
  readonly organization_id: Id<'org'>
  readonly brand_id: Id<'brd'> | null
  readonly created_at: Instant
}

/** The requests made before a time, in that order, after a given one. */
export async function selectRequestsAfter(
  db: Db,
  after: { readonly at: string; readonly organizationId: string },
  before: Instant,
  limit: number,
): Promise<readonly RetentionRequestRow[]> {
  const { rows } = await sql<RetentionRequestRow>`
    SELECT id, organization_id, brand_id, created_at FROM request_log FORCE INDEX (request_log_created)
    WHERE created_at >= ${after.at} AND (created_at > ${after.at} OR organization_id > ${after.organizationId})
      AND created_at < ${before}
    ORDER BY created_at, organization_id LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

export async function deleteRequests(db: Db, organizationId: Id<'org'>, times: readonly Instant[]): Promise<void> {
  await db
    .deleteFrom('request_log')
    .where('organization_id', '=', organizationId)
    .where('created_at', 'in', times)
    .execute()
}
