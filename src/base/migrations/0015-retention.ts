import { type Kysely, sql } from 'kysely'

const id = 'CHAR(30) CHARACTER SET ascii COLLATE ascii_bin'
const word = 'VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin'
const at = 'DATETIME(6)'

const tables: Readonly<Record<string, string>> = {
  retention_policies: `
    scope ${id} NOT NULL, kind ${word} NOT NULL, days INT UNSIGNED NULL, set_at ${at} NOT NULL,
    PRIMARY KEY (scope, kind)`,
  retention_cursors: `
    kind ${word} NOT NULL, days INT UNSIGNED NOT NULL, position VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (kind, days)`,
  retention_waiting: `
    kind ${word} NOT NULL, item_id ${id} NOT NULL, again_at ${at} NOT NULL,
    PRIMARY KEY (kind, item_id), KEY retention_waiting_again (kind, again_at)`,
  blob_tombstones: `
    blob_id ${id} NOT NULL, forgotten_at ${at} NOT NULL, removed_at ${at} NULL,
    PRIMARY KEY (blob_id), KEY blob_tombstones_age (removed_at, forgotten_at)`,
  leases: `
    name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    holder CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, until ${at} NOT NULL,
    PRIMARY KEY (name)`,
  storage_samples: `
    taken_at ${at} NOT NULL, bytes BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (taken_at)`,
}

const columns: readonly (readonly [table: string, name: string])[] = [
  ['messages', 'folder_since'],
  ['messages', 'raw_purged_at'],
  ['messages', 'attachments_purged_at'],
  ['emails', 'content_purged_at'],
  ['emails', 'attachments_purged_at'],
]

const indexes: readonly (readonly [table: string, name: string, columns: string])[] = [
  ['messages', 'messages_blob', 'blob_id'],
  ['messages', 'messages_leaving', 'folder, folder_since, id'],
  ['emails', 'emails_blob', 'blob_id'],
]

/** Nobody knows since when: from now on. */
const leaving = `UPDATE messages SET folder_since = UTC_TIMESTAMP(6)
  WHERE folder IN ('spam', 'trash', 'quarantine') AND folder_since IS NULL`

/** Each step is one statement that may be run again: DDL is not transactional. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const [name, of] of Object.entries(tables))
    await sql
      .raw(`CREATE TABLE IF NOT EXISTS ${name} (${of}) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`)
      .execute(db)
  for (const [table, name] of columns)
    if (!(await isThere(db, 'columns', table, name)))
      await sql.raw(`ALTER TABLE ${table} ADD COLUMN ${name} ${at} NULL`).execute(db)
  for (const [table, name, of] of indexes)
    if (!(await isThere(db, 'statistics', table, name)))
      await sql.raw(`ALTER TABLE ${table} ADD KEY ${name} (${of})`).execute(db)
  await sql.raw(leaving).execute(db)
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
async function isThere(
  db: Kysely<never>,
  kind: 'columns' | 'statistics',
  table: string,
  name: string,
): Promise<boolean> {
  const named = kind === 'columns' ? sql.ref('column_name') : sql.ref('index_name')
  const { rows } = await sql`SELECT 1 FROM ${sql.table(`information_schema.${kind}`)}
    WHERE table_schema = DATABASE() AND table_name = ${table} AND ${named} = ${name} LIMIT 1`.execute(db)
  return rows.length > 0
}
