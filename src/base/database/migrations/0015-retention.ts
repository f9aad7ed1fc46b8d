import { type Kysely, sql } from 'kysely'
import { addColumns, addIndexes, addTables } from '../migration-steps.ts'

const id = 'CHAR(30) CHARACTER SET ascii COLLATE ascii_bin'
const word = 'VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin'
const at = 'DATETIME(6)'

const tables = {
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

const columns = [
  ['messages', 'folder_since', `${at} NULL`],
  ['messages', 'raw_purged_at', `${at} NULL`],
  ['messages', 'attachments_purged_at', `${at} NULL`],
  ['emails', 'content_purged_at', `${at} NULL`],
  ['emails', 'attachments_purged_at', `${at} NULL`],
] as const

const indexes = [
  ['messages', 'messages_blob', 'blob_id'],
  ['messages', 'messages_leaving', 'folder, folder_since, id'],
  ['emails', 'emails_blob', 'blob_id'],
] as const

/** Nobody knows since when: from now on. */
const leaving = `UPDATE messages SET folder_since = UTC_TIMESTAMP(6)
  WHERE folder IN ('spam', 'trash', 'quarantine') AND folder_since IS NULL`

export async function up(db: Kysely<never>): Promise<void> {
  await addTables(db, tables)
  await addColumns(db, columns)
  await addIndexes(db, indexes)
  await sql.raw(leaving).execute(db)
}
