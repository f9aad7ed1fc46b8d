import { type Kysely, sql } from 'kysely'

const at = 'DATETIME(6)'

/** What the operator's commands did, and to what. */
const auditLog = `
  id CHAR(30) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, at ${at} NOT NULL, actor VARCHAR(120) NOT NULL,
  action VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, subject VARCHAR(320) NOT NULL, detail MEDIUMTEXT NOT NULL,
  PRIMARY KEY (id), KEY audit_log_subject (subject, id), KEY audit_log_action (action, id)`

const columns: readonly (readonly [table: string, name: string, type: string])[] = [
  ['outbox', 'held_at', `${at} NULL`],
  ['outbox', 'held_reason', 'VARCHAR(200) NULL'],
  ['api_keys', 'disabled_at', `${at} NULL`],
]

/** Each step is one statement that may be run again: DDL is not transactional. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(
      `CREATE TABLE IF NOT EXISTS audit_log (${auditLog}) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
    )
    .execute(db)
  for (const [table, name, type] of columns)
    if (!(await hasColumn(db, table, name)))
      await sql.raw(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`).execute(db)
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
async function hasColumn(db: Kysely<never>, table: string, name: string): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${name}`.execute(db)
  return rows.length > 0
}
