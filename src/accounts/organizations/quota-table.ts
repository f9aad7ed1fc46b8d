import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** Emails that these organizations had accepted in the month (`YYYY-MM`), summed over the slots; one without any is absent. */
export async function selectAcceptedCounts(
  db: Db,
  organizationIds: readonly Id<'org'>[],
  month: string,
): Promise<ReadonlyMap<Id<'org'>, number>> {
  const rows = await db
    .selectFrom('usage_months')
    .select(['organization_id', sql<string>`SUM(accepted)`.as('accepted')])
    .where('organization_id', 'in', organizationIds)
    .where('month', '=', month)
    .groupBy('organization_id')
    .execute()
  return new Map(rows.map(row => [row.organization_id, Number(row.accepted)]))
}

/** Locks slot 0 of each organization until the transaction ends, creating it if needed. */
export async function lockAcceptedCounts(db: Db, organizationIds: readonly Id<'org'>[], month: string): Promise<void> {
  await upsertAcceptedCounts(
    db,
    organizationIds.map(organization_id => ({ organization_id, month, slot: 0, accepted: 0 })),
  )
}

/** Adds `accepted` of each row to its slot's count. */
/** Adds `accepted` of each row to its slot's count. */
export async function upsertAcceptedCounts(db: Db, rows: readonly DatabaseSchema['usage_months'][]): Promise<void> {
  await insertRows(db, 'usage_months', rows, 'ON DUPLICATE KEY UPDATE accepted = accepted + VALUES(accepted)')
}

/** Emails accepted in the month (`YYYY-MM`) by organization, for all organizations; one without any is absent. */
export async function selectAcceptedCountsOfAll(db: Db, month: string): Promise<ReadonlyMap<Id<'org'>, number>> {
  const { rows } = await sql<{
    id: Id<'org'>
    accepted: string
  }>`SELECT organization_id AS id, SUM(accepted) AS accepted
    FROM usage_months WHERE month = ${month} GROUP BY organization_id`.execute(db)
  return new Map(rows.map(row => [row.id, Number(row.accepted)]))
}
