import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import { selectRows } from '../../base/database/select-rows.ts'
import type { BackupColumn } from '../format/manifest.ts'
import type { ColumnValue } from '../format/row.ts'

/** Tables that belong to this database alone, whose rows a restore must not bring back, or which are derived from others. */
const excludedTables = [
  'kysely_migration',
  'kysely_migration_lock',
  'backup_runs',
  'backups',
  'restores',
  'passkey_challenges',
  'sign_in_failures',
  // A session that was ended, or a link that was opened, since the backup would be valid again.
  'sessions',
  'login_links',
  'processes',
  'operator_tasks',
  // Its rows are in the segments.
  'blob_chunks',
  // Rebuilt from search_texts.
  'search_heads',
  'search_postings',
]

/** Columns that refer to positions in such a table; read as null. */
const excludedColumns = ['search_texts.place']

/** A table to be read. */
export interface TableDescription {
  readonly name: string
  readonly columns: readonly (BackupColumn & { readonly type: string })[]
  /** The columns of its primary key, in order. */
  readonly key: readonly string[]
}

/**
 * Makes all reads on this connection until {@link endSnapshot} see one moment, with REPEATABLE READ for this connection alone.
 */
export async function beginSnapshot(connection: Db): Promise<void> {
  await sql`SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ`.execute(connection)
  await sql`START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY`.execute(connection)
}

export async function endSnapshot(connection: Db): Promise<void> {
  await sql`ROLLBACK`.execute(connection)
}

/** The tables that a backup contains, by name. @throws when one has no primary key */
export async function selectTables(db: Db): Promise<readonly TableDescription[]> {
  const { rows } = await sql<{ tbl: string; name: string; type: string; place: number | null }>`
    SELECT c.table_name AS tbl, c.column_name AS name, LOWER(c.data_type) AS type, k.ordinal_position AS place
    FROM information_schema.columns c
    INNER JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
    LEFT JOIN information_schema.key_column_usage k ON k.table_schema = c.table_schema AND k.table_name = c.table_name
      AND k.column_name = c.column_name AND k.constraint_name = 'PRIMARY'
    WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' AND c.extra NOT LIKE '% GENERATED'
    ORDER BY c.table_name, c.ordinal_position`.execute(db)
  const included = rows.filter(row => !excludedTables.includes(row.tbl))
  return [...Map.groupBy(included, row => row.tbl)].map(([name, columns]) => {
    const key = columns
      .filter(column => column.place !== null)
      .toSorted((a, b) => Number(a.place) - Number(b.place))
      .map(column => column.name)
    if (key.length === 0) throw new Error(`the table ${name} has no primary key`)
    return {
      name,
      columns: columns.map(column => ({ name: column.name, type: column.type, isBinary: isBinary(column.type) })),
      key,
    }
  })
}

function isBinary(type: string): boolean {
  return type.endsWith('blob') || type.endsWith('binary')
}

const typesReadUnchanged =
  /^(tinyint|smallint|mediumint|int|(var)?char|(tiny|medium|long)?text|datetime|date|(var)?binary|(tiny|medium|long)?blob)$/

/** Numbers that JavaScript would round, and types that differ between servers, are read as text. */
function expressionOf(table: string, { name, type }: TableDescription['columns'][number]): string {
  if (excludedColumns.includes(`${table}.${name}`)) return `NULL AS \`${name}\``
  return typesReadUnchanged.test(type) ? `\`${name}\`` : `CAST(\`${name}\` AS CHAR) AS \`${name}\``
}

export type SnapshotRow = Readonly<Record<string, ColumnValue>>

/** At most `limit` rows in the order of the primary key, after a row or from the first. Of `blobs` only the complete ones. */
export async function selectRowBatch(
  db: Db,
  table: TableDescription,
  after: SnapshotRow | null,
  limit: number,
): Promise<readonly SnapshotRow[]> {
  const { name, columns, key } = table
  const keyOf = (row: SnapshotRow) => key.map(column => row[column] ?? null)
  const conditions = [...(after ? [afterKeyCondition(key)] : []), ...(name === 'blobs' ? ['complete = 1'] : [])]
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(condition => `(${condition})`).join(' AND ')}`
  // With the table: a name by itself is the column of the result, which may be the number as text.
  const order = key.map(column => `\`${name}\`.\`${column}\``).join(', ')
  const text = `SELECT ${columns.map(column => expressionOf(name, column)).join(', ')} FROM \`${name}\` ${where} ORDER BY ${order} LIMIT ${limit}`
  const values = after ? key.flatMap((_, i) => keyOf(after).slice(0, i + 1)) : []
  return await selectRows<SnapshotRow>(db, text, values)
}

/** `a > ? OR a = ? AND b > ?`, …: neither server uses the index for `(a, b) > (?, ?)`. */
function afterKeyCondition(key: readonly string[]): string {
  return key
    .map((last, i) => [...key.slice(0, i).map(column => `\`${column}\` = ?`), `\`${last}\` > ?`].join(' AND '))
    .join(' OR ')
}

/** The migrations that have been applied, in order. */
export async function selectMigrations(db: Db): Promise<readonly string[]> {
  const rows = await selectRows<{ name: string }>(db, 'SELECT name FROM kysely_migration ORDER BY name', [])
  return rows.map(row => row.name)
}

/** Acquires the lock of backups of this database, for as long as the connection lives. False: another backup has it. */
export async function acquireBackupLock(connection: Db): Promise<boolean> {
  const { rows } = await sql<{ acquired: number | null }>`
    SELECT GET_LOCK(CONCAT('mailroom backup ', LEFT(SHA2(DATABASE(), 256), 40)), 0) AS acquired`.execute(connection)
  return Number(rows[0]?.acquired) === 1
}

/** The ids of the secret keys that secrets in the database are encrypted with. */
export async function selectSecretKeys(db: Db): Promise<readonly string[]> {
  const rows = await db.selectFrom('secret_keys').select('id').orderBy('id').execute()
  return rows.map(row => row.id)
}
