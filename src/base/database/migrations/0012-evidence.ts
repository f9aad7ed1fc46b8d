import type { Kysely } from 'kysely'
import { addColumns, addTables } from '../migration-steps.ts'

const id = 'CHAR(30) CHARACTER SET ascii COLLATE ascii_bin'
const word = 'VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin'
const at = 'DATETIME(6)'

const tables = {
  simulated_reports: `
    email_id ${id} NOT NULL, recipient VARCHAR(320) NOT NULL, kind ${word} NOT NULL, due_at ${at} NOT NULL,
    rcpt_to VARCHAR(320) NOT NULL, message MEDIUMBLOB NOT NULL, news TEXT NULL,
    PRIMARY KEY (email_id, recipient, kind), KEY simulated_reports_due (due_at)`,
}

const columns = [
  ['email_recipients', 'reported', 'TINYINT(1) NOT NULL DEFAULT 0'],
  ['messages', 'is_reply', 'TINYINT(1) NULL'],
] as const

export async function up(db: Kysely<never>): Promise<void> {
  await addTables(db, tables)
  await addColumns(db, columns)
}
