import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { RetentionDays, RetentionKind } from './kinds.ts'

/** A policy that was set for a brand or an organization, by its id, or for `instance`. */
export interface RetentionPolicyRow {
  readonly scope: string
  readonly kind: string
  readonly days: RetentionDays
  /** When it was set; null: it is the default. */
  readonly set_at: Instant | null
}

export type NewRetentionPolicyRow = RetentionPolicyRow & { readonly set_at: Instant }

export async function selectPolicies(db: Db): Promise<readonly RetentionPolicyRow[]> {
  return await db
    .selectFrom('retention_policies')
    .select(['scope', 'kind', 'days', 'set_at'])
    .orderBy('scope')
    .orderBy('kind')
    .execute()
}

/** The retention time that was set; undefined: none was. The row is locked until the transaction ends. */
export async function lockPolicy(
  db: Db,
  scope: string,
  kind: RetentionKind,
): Promise<Pick<NewRetentionPolicyRow, 'days' | 'set_at'> | undefined> {
  return await db
    .selectFrom('retention_policies')
    .select(['days', 'set_at'])
    .where('scope', '=', scope)
    .where('kind', '=', kind)
    .forUpdate()
    .executeTakeFirst()
}

/** @throws where somebody else has set it meanwhile */
export async function insertPolicy(db: Db, row: NewRetentionPolicyRow): Promise<void> {
  await insertRows(db, 'retention_policies', [row])
}

export async function upsertPolicy(db: Db, row: NewRetentionPolicyRow): Promise<void> {
  await insertRows(
    db,
    'retention_policies',
    [row],
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
