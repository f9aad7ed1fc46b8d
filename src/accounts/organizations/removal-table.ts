import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** Emails accepted in a month (`YYYY-MM`), by organization; one that sent none is absent. */
export async function selectAcceptedCountsOfAll(db: Db, month: string): Promise<ReadonlyMap<Id<'org'>, number>> {
  const { rows } = await sql<{
    id: Id<'org'>
    accepted: string
  }>`SELECT organization_id AS id, SUM(accepted) AS accepted
    FROM usage_months WHERE month = ${month} GROUP BY organization_id`.execute(db)
  return new Map(rows.map(row => [row.id, Number(row.accepted)]))
}

/** What an organization may have that is not to go with it, by table. */
export const dependentTables = [
  'members',
  'domains',
  'mailboxes',
  'emails',
  'messages',
  'templates',
  'drafts',
  'suppressions',
] as const

export type DependentTable = (typeof dependentTables)[number]

/** How many of each of these it has; counted up to `most`. */
export async function countDependentRows(
  db: Db,
  id: Id<'org'>,
  most: number,
): Promise<Readonly<Record<DependentTable, number>>> {
  const counts = dependentTables.map(
    table => sql`(SELECT COUNT(*) FROM
      (SELECT 1 AS one FROM ${sql.table(table)} WHERE organization_id = ${id} LIMIT ${sql.lit(most)}) AS some) AS ${sql.ref(table)}`,
  )
  const { rows } = await sql<Record<DependentTable, string>>`SELECT ${sql.join(counts)}`.execute(db)
  const [row] = rows
  return Object.fromEntries(dependentTables.map(table => [table, Number(row?.[table] ?? 0)])) as Record<
    DependentTable,
    number
  >
}

/** Keeps the organization as it is until the transaction ends. Is there one? */
export async function lockOrganization(db: Db, id: Id<'org'>): Promise<boolean> {
  const row = await db.selectFrom('organizations').select('id').where('id', '=', id).forUpdate().executeTakeFirst()
  return row !== undefined
}

/** Takes it away, with its brands, keys, invitations and counts. What else it has must be gone. */
export async function deleteOrganization(db: Db, id: Id<'org'>): Promise<void> {
  for (const table of ['api_keys', 'invitations', 'usage_months', 'brands'] as const)
    await db.deleteFrom(table).where('organization_id', '=', id).execute()
  await db.deleteFrom('organizations').where('id', '=', id).execute()
}
