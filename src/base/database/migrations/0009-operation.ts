import type { Kysely } from 'kysely'
import { addColumns, addTables } from '../migration-steps.ts'

const at = 'DATETIME(6)'

/** What the operator's commands did, and to what. */
const auditLog = `
  id CHAR(30) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, at ${at} NOT NULL, actor VARCHAR(120) NOT NULL,
  action VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, subject VARCHAR(320) NOT NULL, detail MEDIUMTEXT NOT NULL,
  PRIMARY KEY (id), KEY audit_log_subject (subject, id), KEY audit_log_action (action, id)`

const columns = [
  ['outbox', 'held_at', `${at} NULL`],
  ['outbox', 'held_reason', 'VARCHAR(200) NULL'],
  ['api_keys', 'disabled_at', `${at} NULL`],
] as const

export async function up(db: Kysely<never>): Promise<void> {
  await addTables(db, { audit_log: auditLog })
  await addColumns(db, columns)
}
