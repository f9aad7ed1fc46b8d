import { type Insertable, sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export type OrganizationRow = DatabaseSchema['organizations']

const organizationColumns = ['id', 'name', 'plan', 'created_at', 'updated_at'] as const

export async function insertOrganization(db: Db, row: Insertable<DatabaseSchema['organizations']>): Promise<void> {
  await db.insertInto('organizations').values(row).execute()
}

export function selectOrganizations(db: Db): Promise<OrganizationRow[]> {
  return db.selectFrom('organizations').select(organizationColumns).orderBy('id').execute()
}

/** At most `limit` organizations after the one with the id `after`, by id. */
export function selectOrganizationsAfter(db: Db, after: string, limit: number): Promise<OrganizationRow[]> {
  return db
    .selectFrom('organizations')
    .select(organizationColumns)
    .where('id', '>', after as Id<'org'>)
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute()
}

export function selectOrganization(db: Db, id: Id<'org'>): Promise<OrganizationRow | undefined> {
  return organizationQuery(db, id).executeTakeFirst()
}

function organizationQuery(db: Db, id: Id<'org'>) {
  return db.selectFrom('organizations').select(organizationColumns).where('id', '=', id)
}

export async function updateOrganization(db: Db, { id, name, plan, updated_at }: OrganizationRow): Promise<void> {
  await db.updateTable('organizations').set({ name, plan, updated_at }).where('id', '=', id).execute()
}

/** The tables whose rows prevent the removal of their organization. */
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

/** How many rows of each dependent table the organization has, counted up to `most`. */
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

/** The organization, locked until the transaction ends. */
export function lockOrganization(db: Db, id: Id<'org'>): Promise<OrganizationRow | undefined> {
  return organizationQuery(db, id).forUpdate().executeTakeFirst()
}

/** Deletes the organization with its brands, keys, invitations, webhooks and usage. Its other rows must be gone. */
export async function deleteOrganization(db: Db, id: Id<'org'>): Promise<void> {
  const owned = [
    'webhooks',
    'api_keys',
    'invitations',
    'usage_months',
    'sender_listings',
    'spam_lessons',
    'brands',
  ] as const
  for (const table of owned) await db.deleteFrom(table).where('organization_id', '=', id).execute()
  await db.deleteFrom('organizations').where('id', '=', id).execute()
}
