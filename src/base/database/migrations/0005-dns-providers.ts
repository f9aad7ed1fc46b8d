import { type Kysely, sql } from 'kysely'

/** Zones whose provider takes whole sets of records, so that two who change one at once would undo each other's work. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(
      `CREATE TABLE IF NOT EXISTS zone_turns (
        zone VARCHAR(253) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
        holder CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
        until DATETIME(6) NOT NULL,
        PRIMARY KEY (zone)
      ) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
    )
    .execute(db)
}
