import { type Kysely, sql } from 'kysely'

/**
 * What a program must know to work on these tables. A migration that takes away or changes what the version before used
 * writes its own name here first; one that only adds does not.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(
      `CREATE TABLE IF NOT EXISTS schema_floor (
        migration VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, PRIMARY KEY (migration)
      ) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
    )
    .execute(db)
}
