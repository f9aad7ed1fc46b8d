import { type Kysely, sql } from 'kysely'

/** Each step is one statement that may be run again: DDL is not transactional. */
export async function up(db: Kysely<never>): Promise<void> {
  const id = 'CHAR(30) CHARACTER SET ascii COLLATE ascii_bin NOT NULL'
  // The index takes the stop words of the session that makes it.
  await sql`SET SESSION innodb_ft_enable_stopword = OFF`.execute(db)
  await sql
    .raw(`CREATE TABLE IF NOT EXISTS message_search (
      message_id ${id}, organization_id ${id}, brand_id ${id}, words MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      PRIMARY KEY (message_id), KEY message_search_organization (organization_id), FULLTEXT KEY message_search_words (words)
    ) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`)
    .execute(db)
}
