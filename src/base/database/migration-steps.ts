import { type Kysely, sql } from 'kysely'

type Tables = Readonly<Record<string, string>>
type Columns = readonly (readonly [table: string, name: string, type: string])[]
type Indexes = readonly (readonly [table: string, name: string, columns: string])[]

// Each step is one statement, and may be run again: DDL is not transactional, and MySQL has no ADD COLUMN IF NOT EXISTS.

/** Makes tables; each is told by its name and what stands between the parentheses. */
export async function addTables(db: Kysely<never>, tables: Tables): Promise<void> {
  for (const [name, of] of Object.entries(tables))
    await sql
      .raw(`CREATE TABLE IF NOT EXISTS ${name} (${of}) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`)
      .execute(db)
}

export async function addColumns(db: Kysely<never>, columns: Columns): Promise<void> {
  for (const [table, name, type] of columns)
    if (!(await isThere(db, 'columns', table, name)))
      await sql.raw(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`).execute(db)
}

export async function addIndexes(db: Kysely<never>, indexes: Indexes): Promise<void> {
  for (const [table, name, columns] of indexes)
    if (!(await isThere(db, 'statistics', table, name)))
      await sql.raw(`ALTER TABLE ${table} ADD KEY ${name} (${columns})`).execute(db)
}

async function isThere(
  db: Kysely<never>,
  kind: 'columns' | 'statistics',
  table: string,
  name: string,
): Promise<boolean> {
  const named = kind === 'columns' ? sql.ref('column_name') : sql.ref('index_name')
  const { rows } = await sql`SELECT 1 FROM ${sql.table(`information_schema.${kind}`)}
    WHERE table_schema = DATABASE() AND table_name = ${table} AND ${named} = ${name} LIMIT 1`.execute(db)
  return rows.length > 0
}
