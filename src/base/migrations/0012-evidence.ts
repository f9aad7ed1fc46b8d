import { type Kysely, sql } from 'kysely'

const id = 'CHAR(30) CHARACTER SET ascii COLLATE ascii_bin'
const word = 'VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin'
const at = 'DATETIME(6)'

const tables: Readonly<Record<string, string>> = {
  simulated_reports: `
    email_id ${id} NOT NULL, recipient VARCHAR(320) NOT NULL, kind ${word} NOT NULL, due_at ${at} NOT NULL,
    rcpt_to VARCHAR(320) NOT NULL, message MEDIUMBLOB NOT NULL, news TEXT NULL,
    PRIMARY KEY (email_id, recipient, kind), KEY simulated_reports_due (due_at)`,
}

const columns: readonly (readonly [table: string, name: string, type: string])[] = [
  ['email_recipients', 'reported', 'TINYINT(1) NOT NULL DEFAULT 0'],
  ['messages', 'is_reply', 'TINYINT(1) NULL'],
]

/** Each step is one statement that may be run again: DDL is not transactional. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const [name, of] of Object.entries(tables))
    await sql
      .raw(`CREATE TABLE IF NOT EXISTS ${name} (${of}) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`)
      .execute(db)
  for (const [table, name, type] of columns)
    if (!(await isThere(db, table, name))) await sql.raw(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`).execute(db)
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
async function isThere(db: Kysely<never>, table: string, column: string): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${column} LIMIT 1`.execute(db)
  return rows.length > 0
}
