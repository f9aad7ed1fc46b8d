import { type Kysely, sql } from 'kysely'
import { addTables } from '../migration-steps.ts'

const runs = `
  id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, started_at DATETIME(6) NOT NULL,
  expires_at DATETIME(6) NOT NULL,
  PRIMARY KEY (id)`

/** Backups that are under way, and the row that whoever begins one, or takes blobs away, holds for a moment. */
export async function up(db: Kysely<never>): Promise<void> {
  await addTables(db, { backup_runs: runs })
  await sql
    .raw(
      `INSERT IGNORE INTO backup_runs (id, started_at, expires_at)
        VALUES ('gate', '1970-01-01 00:00:00', '1970-01-01 00:00:00')`,
    )
    .execute(db)
}
