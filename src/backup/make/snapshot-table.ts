import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import { selectRows } from '../../base/database/select-rows.ts'
import type { BackupColumn } from '../format/manifest.ts'
import type { ColumnValue } from '../format/row.ts'

/** Tables of this database alone: what the migrations keep, its own backups, and what is made of other tables. */
const excludedTables = [
  'kysely_migration',
  'kysely_migration_lock',
  'backup_runs',
  'backups',
  'restores',
  // Its rows are the bytes in the segments.
  'blob_chunks',
  // Made anew of search_texts.
  'search_heads',
  'search_postings',
]

/** Columns that tell where in such a table a row is: read as null. */
const excludedColumns = ['search_texts.place']

/** A table as it is to be read. */
export interface TableDescription {
  readonly name: string
  readonly columns: readonly (BackupColumn & { readonly type: string })[]
  /** The columns of its primary key, in order. */
  readonly key: readonly string[]
}

/**
 * Makes all that is read on this connection, until {@link endSnapshot}, show one moment: REPEATABLE READ, for it alone.
 */
export async function beginSnapshot(connection: Db): Promise<void> {
  await sql`SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ`.execute(connection)
  await sql`START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY`.execute(connection)
}

export async function endSnapshot(connection: Db): Promise<void> {
  await sql`ROLLBACK`.execute(connection)
}

/** The tables that a backup holds, by name. @throws where one has no primary key */
export async function selectTables(db: Db): Promise<readonly TableDescription[]> {
  const { rows } = await sql<{ tbl: string; name: string; type: string; place: number | null }>`
    SELECT c.table_name AS tbl, c.column_name AS name, LOWER(c.data_type) AS type, k.ordinal_position AS place
    FROM information_schema.columns c
    INNER JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
    LEFT JOIN information_schema.key_column_usage k ON k.table_schema = c.table_schema AND k.table_name = c.table_name
      AND k.column_name = c.column_name AND k.constraint_name = 'PRIMARY'
    WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' AND c.extra NOT LIKE '% GENERATED'
    ORDER BY c.table_name, c.ordinal_position`.execute(db)
  const ofBackups = rows.filter(row => !excludedTables.includes(row.tbl))
  return [...Map.groupBy(ofBackups, row => row.tbl)].map(([name, columns]) => {
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

/** Numbers that JavaScript would round, and types that differ between servers, come as text. */
function expressionOf(table: string, { name, type }: TableDescription['columns'][number]): string {
  if (excludedColumns.includes(`${table}.${name}`)) return `NULL AS \`${name}\``
  return typesReadUnchanged.test(type) ? `\`${name}\`` : `CAST(\`${name}\` AS CHAR) AS \`${name}\``
}

export type SnapshotRow = Readonly<Record<string, ColumnValue>>

/** At most `limit` rows by primary key, after a row or from the first. Of `blobs` those alone whose bytes are all there. */
export async function selectRowBatch(
  db: Db,
  table: TableDescription,
  after: SnapshotRow | null,
  limit: number,
): Promise<readonly SnapshotRow[]> {
  const { name, columns, key } = table
  const keyOf = (row: SnapshotRow) => key.map(value => row[value] ?? null)
  const conditions = [...(after ? [afterKeyCondition(key)] : []), ...(name === 'blobs' ? ['complete = 1'] : [])]
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(condition => `(${condition})`).join(' AND ')}`
  const order = key.map(value => `\`${value}\``).join(', ')
  const text = `SELECT ${columns.map(column => expressionOf(name, column)).join(', ')} FROM \`${name}\` ${where} ORDER BY ${order} LIMIT ${limit}`
  const values = after ? key.flatMap((_, i) => keyOf(after).slice(0, i + 1)) : []
  return await selectRows<SnapshotRow>(db, text, values)
}

/** `a > ? OR a = ? AND b > ?`, …: neither server reads a range by `(a, b) > (?, ?)`. */
function afterKeyCondition(key: readonly string[]): string {
  return key
    .map((last, i) => [...key.slice(0, i).map(value => `\`${value}\` = ?`), `\`${last}\` > ?`].join(' AND '))
    .join(' OR ')
}

/** The migrations that ran, in order. */
export async function selectMigrations(db: Db): Promise<readonly string[]> {
  const rows = await selectRows<{ name: string }>(db, 'SELECT name FROM kysely_migration ORDER BY name', [])
  return rows.map(row => row.name)
}

/** Takes the place of the one backup of this database; false: another has it. It is kept as long as the connection. */
export async function acquireBackupLock(connection: Db): Promise<boolean> {
  const { rows } = await sql<{ taken: number | null }>`
    SELECT GET_LOCK(CONCAT('mailroom backup ', LEFT(SHA2(DATABASE(), 256), 40)), 0) AS taken`.execute(connection)
  return Number(rows[0]?.taken) === 1
}

/** The ids of the secret keys that the database is sealed with. */
export async function selectSecretKeys(db: Db): Promise<readonly string[]> {
  const rows = await db.selectFrom('secret_keys').select('id').orderBy('id').execute()
  return rows.map(row => row.id)
}
