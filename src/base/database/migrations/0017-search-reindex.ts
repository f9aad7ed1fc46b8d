import { type Kysely, sql } from 'kysely'
import { addColumns, addTables } from '../migration-steps.ts'

const tables = {
  search_reindex: `
    name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    position CHAR(30) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (name)`,
}

/**
 * Text that came from HTML kept the names of most entities: `M&uuml;nchen` was indexed as "m uuml nchen". What is indexed
 * already is indexed again while the program serves; see inbox/search/reindex.ts.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await addColumns(db, [['search_heads', 'revision', 'INT UNSIGNED NOT NULL DEFAULT 0']])
  await addTables(db, tables)
  await sql`INSERT IGNORE INTO search_reindex (name, position)
    SELECT 'html_entities', '' FROM search_texts LIMIT 1`.execute(db)
}
