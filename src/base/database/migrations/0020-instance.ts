import type { Kysely } from 'kysely'
import { addIndexes, addTables } from '../migration-steps.ts'

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin'
const at = 'DATETIME(6)'

const tables = {
  processes: `
    id CHAR(26) ${ascii} NOT NULL, host VARCHAR(255) NOT NULL, pid INT UNSIGNED NOT NULL, version VARCHAR(64) ${ascii} NOT NULL,
    roles VARCHAR(64) ${ascii} NOT NULL, started_at ${at} NOT NULL, seen_at ${at} NOT NULL,
    breaker_opened_at ${at} NULL, breaker_reply VARCHAR(998) NULL,
    PRIMARY KEY (id), KEY processes_seen (seen_at)`,
  operator_tasks: `
    id CHAR(30) ${ascii} NOT NULL, kind VARCHAR(32) ${ascii} NOT NULL, subject VARCHAR(320) NOT NULL, actor VARCHAR(120) NOT NULL,
    started_at ${at} NOT NULL, alive_until ${at} NOT NULL, progress TEXT NULL, finished_at ${at} NULL, result MEDIUMTEXT NULL,
    error TEXT NULL,
    PRIMARY KEY (id)`,
}

/** The processes that run, and the long tasks that operators start in the dashboard. */
export async function up(db: Kysely<never>): Promise<void> {
  await addTables(db, tables)
  await addIndexes(db, [['audit_log', 'audit_log_actor', 'actor, id']])
}
