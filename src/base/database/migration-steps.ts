import { type Kysely, sql } from 'kysely'

type Tables = Readonly<Record<string, string>>
type Columns = readonly (readonly [table: string, name: string, type: string])[]
type Indexes = readonly (readonly [table: string, name: string, columns: string])[]

// Each step is one statement and may run again: DDL is not transactional, and MySQL has no ADD COLUMN IF NOT EXISTS.

/** Creates tables, given by name and by what is between the parentheses of CREATE TABLE. */
export async function addTables(db: Kysely<never>, tables: Tables): Promise<void> {
  for (const [name, definition] of Object.entries(tables))
    await sql
      .raw(
        `CREATE TABLE IF NOT EXISTS ${name} (${definition}) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
      )
      .execute(db)
}

export async function addColumns(db: Kysely<never>, columns: Columns): Promise<void> {
  for (const [table, name, type] of columns)
    if (!(await exists(db, 'columns', table, name)))
      await sql.raw(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`).execute(db)
}

export async function addIndexes(db: Kysely<never>, indexes: Indexes): Promise<void> {
  for (const [table, name, columns] of indexes)
    if (!(await exists(db, 'statistics', table, name)))
      await sql.raw(`ALTER TABLE ${table} ADD KEY ${name} (${columns})`).execute(db)
}

export async function dropIndexes(
  db: Kysely<never>,
  indexes: readonly (readonly [table: string, name: string])[],
): Promise<void> {
  for (const [table, name] of indexes)
    if (await exists(db, 'statistics', table, name)) await sql.raw(`ALTER TABLE ${table} DROP KEY ${name}`).execute(db)
}

async function exists(
  db: Kysely<never>,
  kind: 'columns' | 'statistics',
  table: string,
  name: string,
): Promise<boolean> {
  const nameColumn = kind === 'columns' ? sql.ref('column_name') : sql.ref('index_name')
  const { rows } = await sql`SELECT 1 FROM ${sql.table(`information_schema.${kind}`)}
    WHERE table_schema = DATABASE() AND table_name = ${table} AND ${nameColumn} = ${name} LIMIT 1`.execute(db)
  return rows.length > 0
}
