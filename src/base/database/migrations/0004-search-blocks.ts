import { type Kysely, sql } from 'kysely'

const id = 'CHAR(30) CHARACTER SET ascii COLLATE ascii_bin NOT NULL'

const tables: Readonly<Record<string, string>> = {
  search_texts: `
    message_id ${id}, organization_id ${id}, brand_id ${id}, words MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    bytes INT UNSIGNED NOT NULL, place INT UNSIGNED NULL,
    PRIMARY KEY (message_id), KEY search_texts_place (organization_id, place, bytes)`,
  search_heads: `
    organization_id ${id}, blocks INT UNSIGNED NOT NULL,
    PRIMARY KEY (organization_id)`,
  search_postings: `
    organization_id ${id}, block INT UNSIGNED NOT NULL, term BINARY(8) NOT NULL, places VARBINARY(256) NOT NULL,
    PRIMARY KEY (organization_id, block, term)`,
}

/** The server's full-text index took time for each message that it found; every message is indexed anew, otherwise. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const [name, columns] of Object.entries(tables))
    await sql
      .raw(
        `CREATE TABLE IF NOT EXISTS ${name} (${columns}) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
      )
      .execute(db)
  await sql`UPDATE messages SET indexed = 0 WHERE indexed = 1`.execute(db)
  await sql`DROP TABLE IF EXISTS message_search`.execute(db)
}
