import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** Emails accepted in the month, all slots together. */
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

/** Locks the first slot of each until the transaction ends; makes it where there is none. */
export async function lockAcceptedCounts(db: Db, organizationIds: readonly Id<'org'>[], month: string): Promise<void> {
  await upsertAcceptedCounts(
    db,
    organizationIds.map(organization_id => ({ organization_id, month, slot: 0, accepted: 0 })),
  )
}

export async function upsertAcceptedCounts(db: Db, rows: readonly DatabaseSchema['usage_months'][]): Promise<void> {
  await insertRows(db, 'usage_months', rows, 'ON DUPLICATE KEY UPDATE accepted = accepted + VALUES(accepted)')
}

/** Emails accepted in a month (`YYYY-MM`), by organization; one that sent none is absent. */
export async function selectAcceptedCountsOfAll(db: Db, month: string): Promise<ReadonlyMap<Id<'org'>, number>> {
  const { rows } = await sql<{
    id: Id<'org'>
    accepted: string
  }>`SELECT organization_id AS id, SUM(accepted) AS accepted
    FROM usage_months WHERE month = ${month} GROUP BY organization_id`.execute(db)
  return new Map(rows.map(row => [row.id, Number(row.accepted)]))
}
