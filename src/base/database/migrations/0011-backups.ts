import type { Kysely } from 'kysely'
import { addTables } from '../migration-steps.ts'

const id = 'VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL'
const at = 'DATETIME(6)'

const tables = {
  backups: `
    id ${id}, started_at ${at} NOT NULL, finished_at ${at} NOT NULL, seconds DOUBLE NOT NULL,
    bytes BIGINT UNSIGNED NOT NULL, new_bytes BIGINT UNSIGNED NOT NULL,
    proven_at ${at} NULL, refuted_at ${at} NULL,
    PRIMARY KEY (id), KEY backups_finished (finished_at), KEY backups_proven (proven_at), KEY backups_refuted (refuted_at)`,
  restores: `
    id ${id}, started_at ${at} NOT NULL, steps_done INT UNSIGNED NOT NULL, finished_at ${at} NULL,
    PRIMARY KEY (id)`,
}

/** The backups that were made of this database, and those that it was restored from. */
export async function up(db: Kysely<never>): Promise<void> {
  await addTables(db, tables)
}
