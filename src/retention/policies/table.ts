import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { RetentionDays, RetentionKind } from './kinds.ts'

/** A policy that was set for a brand or an organization, by its id, or for `instance`. */
export interface RetentionPolicyRow {
  readonly scope: string
  readonly kind: string
  readonly days: RetentionDays
}

export async function selectPolicies(db: Db): Promise<readonly RetentionPolicyRow[]> {
  return await db
    .selectFrom('retention_policies')
    .select(['scope', 'kind', 'days'])
    .orderBy('scope')
    .orderBy('kind')
    .execute()
}

export async function upsertPolicy(db: Db, row: RetentionPolicyRow, now: Instant): Promise<void> {
  await insertRows(
    db,
    'retention_policies',
    [{ ...row, set_at: now }],
    'ON DUPLICATE KEY UPDATE days = VALUES(days), set_at = VALUES(set_at)',
  )
}

export async function deletePolicy(db: Db, scope: string, kind: RetentionKind): Promise<void> {
  await db.deleteFrom('retention_policies').where('scope', '=', scope).where('kind', '=', kind).execute()
}

/** The organization of a brand; undefined: there is no such brand. */
export async function selectBrandOrganization(db: Db, brandId: string) {
  const row = await db
    .selectFrom('brands')
    .select('organization_id')
    .where('id', '=', brandId as `brd_${string}`)
    .executeTakeFirst()
  return row?.organization_id
}
