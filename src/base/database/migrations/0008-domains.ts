import { type Kysely, sql } from 'kysely'

const id = 'CHAR(30) CHARACTER SET ascii COLLATE ascii_bin'
const word = 'VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin'
const secretId = 'CHAR(16) CHARACTER SET ascii COLLATE ascii_bin'
const at = 'DATETIME(6)'
const count = 'TINYINT UNSIGNED NOT NULL DEFAULT 0'

const tables: Readonly<Record<string, string>> = {
  secret_keys: `
    id ${secretId} NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (id)`,
  brand_pauses: `
    brand_id ${id} NOT NULL, paused_at ${at} NULL, reason TEXT NULL, counted_from ${at} NOT NULL,
    PRIMARY KEY (brand_id), FOREIGN KEY (brand_id) REFERENCES brands (id) ON DELETE CASCADE`,
}

const columns: readonly (readonly [table: string, name: string, type: string])[] = [
  ['dkim_keys', 'sealed_by', `${secretId} NULL`],
  ['dkim_keys', 'state', `${word} NOT NULL DEFAULT 'signing'`],
  ['dkim_keys', 'state_since', `${at} NULL`],
  ['domains', 'next_check_at', `${at} NOT NULL DEFAULT CURRENT_TIMESTAMP(6)`],
  ['domains', 'checks_unchanged', count],
  ['domains', 'misses', count],
  ['receiving_claims', 'mx_misses', count],
  ['domain_records', 'detail', 'TEXT NULL'],
]

const indexes: readonly (readonly [table: string, name: string, key: string])[] = [
  ['domains', 'domains_next_check', 'KEY domains_next_check (next_check_at)'],
  // One name may hold records of two types for one purpose. The foreign key uses it once the narrower one is gone.
  ['domain_records', 'domain_records_place', 'UNIQUE KEY domain_records_place (domain_id, purpose, name, type)'],
]

/** Each step is one statement that may be run again: DDL is not transactional. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const [name, of] of Object.entries(tables))
    await sql
      .raw(`CREATE TABLE IF NOT EXISTS ${name} (${of}) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`)
      .execute(db)
  for (const [table, name, type] of columns)
    if (!(await isThere(db, 'columns', table, name)))
      await sql.raw(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`).execute(db)
  for (const [table, name, key] of indexes)
    if (!(await isThere(db, 'statistics', table, name))) await sql.raw(`ALTER TABLE ${table} ADD ${key}`).execute(db)
  if (await isThere(db, 'statistics', 'domain_records', 'domain_records_name'))
    await sql.raw('ALTER TABLE domain_records DROP KEY domain_records_name').execute(db)
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
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
