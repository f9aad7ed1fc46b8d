import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { executeUpdate, placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'
import type { BackupColumn } from '../format/manifest.ts'
import type { ColumnValue } from '../format/row.ts'

/** Well below the 16 MiB of max_allowed_packet and the 65,535 values of one statement. */
const statementBytes = 4 * 1024 * 1024
const statementRows = 256
const statementValues = 60_000

/** Tables into which the migrations themselves write. */
const tablesFilledByMigrations = ['kysely_migration', 'kysely_migration_lock', 'backup_runs']

/** All tables of a database, and those with rows that did not come from the migrations. */
export async function selectFilledTables(
  db: Db,
): Promise<{ readonly all: readonly string[]; readonly filled: readonly string[] }> {
  const { rows } = await sql<{ name: string }>`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE() ORDER BY table_name`.execute(db)
  const all = rows.map(row => row.name)
  const filled: string[] = []
  for (const name of all.filter(table => !tablesFilledByMigrations.includes(table))) {
    const found = await sql`SELECT 1 FROM ${sql.table(name)} LIMIT 1`.execute(db)
    if (found.rows.length > 0) filled.push(name)
  }
  return { all, filled }
}

/** Drops tables, whatever refers to them. */
export async function dropTables(db: Db, names: readonly string[]): Promise<void> {
  await db.connection().execute(async connection => {
    await sql`SET SESSION foreign_key_checks = 0`.execute(connection)
    for (const name of names) await sql`DROP TABLE ${sql.table(name)}`.execute(connection)
    await sql`SET SESSION foreign_key_checks = 1`.execute(connection)
  })
}

/** Deletes the rows that the migrations wrote into a table. */
export async function deleteAllRows(tx: Db, table: string): Promise<void> {
  await sql`SET SESSION foreign_key_checks = 0`.execute(tx)
  await sql`DELETE FROM ${sql.table(table)}`.execute(tx)
}

/**
 * Inserts rows of a table in statements of bounded size. Foreign keys are not checked, since the rows come from one snapshot.
 * `mayExist`: skips rows that exist already.
 */
export async function insertRestoredRows(
  tx: Db,
  table: string,
  columns: readonly BackupColumn[],
  rows: readonly (readonly ColumnValue[])[],
  mayExist = false,
): Promise<void> {
  await sql`SET SESSION foreign_key_checks = 0`.execute(tx)
  const maxRows = Math.min(statementRows, Math.floor(statementValues / columns.length))
  const names = columns.map(column => `\`${column.name}\``).join(', ')
  const placeholdersOfRow = `(${columns.map(() => '?').join(', ')})`
  const suffix = mayExist ? `ON DUPLICATE KEY UPDATE \`${columns[0]?.name}\` = \`${columns[0]?.name}\`` : ''
  let group: (readonly ColumnValue[])[] = []
  let bytes = 0
  const flush = async () => {
    if (group.length === 0) return
    const values = group.map(() => placeholdersOfRow).join(', ')
    await executeUpdate(tx, `INSERT INTO \`${table}\` (${names}) VALUES ${values} ${suffix}`, group.flat())
    group = []
    bytes = 0
  }
  for (const row of rows) {
    group.push(row)
    bytes += row.reduce<number>(
      (sum, value) => sum + (value === null || typeof value === 'number' ? 8 : value.length),
      0,
    )
    if (group.length === maxRows || bytes >= statementBytes) await flush()
  }
  await flush()
}

/** Those of the blobs that exist in the database. */
export async function selectKnownBlobs(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const text = `SELECT id FROM blobs WHERE id IN (${placeholders(ids)})`
  return new Set((await selectRows<{ id: string }>(db, text, ids)).map(row => row.id))
}

export async function selectOrganizations(db: Db): Promise<readonly Id<'org'>[]> {
  return (await db.selectFrom('organizations').select('id').execute()).map(row => row.id)
}

export async function countRows(db: Db, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM ${sql.table(table)}`.execute(db)
  return Number(rows[0]?.count)
}

/** The next blobs in the order of ids. */
export async function selectBlobsAfter(db: Db, after: string, limit: number) {
  return await db
    .selectFrom('blobs')
    .select(['id', 'sha256', 'size'])
    .where('id', '>', after as never)
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute()
}

/** Creates an empty database on the same server. @throws when the account is not allowed to */
export async function createDatabase(db: Db, name: string): Promise<void> {
  await sql`CREATE DATABASE ${sql.id(name)}`.execute(db)
}

export async function dropDatabase(db: Db, name: string): Promise<void> {
  await sql`DROP DATABASE IF EXISTS ${sql.id(name)}`.execute(db)
}

/** The databases that the account can see, with this prefix. */
export async function selectDatabases(db: Db, prefix: string): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`SELECT schema_name AS name FROM information_schema.schemata`.execute(db)
  return rows.map(row => row.name).filter(name => name.startsWith(prefix))
}

/** Acquires the lock of a database name, for as long as the connection lives. False: another process has it. */
export async function lockDatabaseName(connection: Db, name: string): Promise<boolean> {
  const { rows } = await sql<{
    acquired: number | null
  }>`SELECT GET_LOCK(LEFT(SHA2(${name}, 256), 64), 0) AS acquired`.execute(connection)
  return Number(rows[0]?.acquired) === 1
}

export async function selectDatabaseName(db: Db): Promise<string> {
  const { rows } = await sql<{ name: string }>`SELECT DATABASE() AS name`.execute(db)
  return rows[0]?.name ?? ''
}

/** The number of messages or emails whose blob does not exist. */
export async function countRowsWithoutBlob(db: Db, table: 'messages' | 'emails'): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM ${sql.table(table)} AS referring
    LEFT JOIN blobs ON blobs.id = referring.blob_id WHERE blobs.id IS NULL`.execute(db)
  return Number(rows[0]?.count)
}

const rowsPerUpdate = 1000

/** Puts all recipients in the outbox on hold, until the operator releases them; gives their number. */
export async function holdOutbox(db: Db, reason: string, now: Instant): Promise<number> {
  return await inBatches(async () => {
    const { numUpdatedRows } = await db
      .updateTable('outbox')
      .set({ held_at: now, held_reason: reason })
      .where('held_at', 'is', null)
      .limit(sql.lit(rowsPerUpdate))
      .executeTakeFirstOrThrow()
    return Number(numUpdatedRows)
  })
}

/** Disables all API keys, until the operator enables them; gives their number. */
export async function disableKeys(db: Db, now: Instant): Promise<number> {
  return await inBatches(async () => {
    const { numUpdatedRows } = await db
      .updateTable('api_keys')
      .set({ disabled_at: now })
      .where('disabled_at', 'is', null)
      .where('revoked_at', 'is', null)
      .limit(sql.lit(rowsPerUpdate))
      .executeTakeFirstOrThrow()
    return Number(numUpdatedRows)
  })
}

async function inBatches(change: () => Promise<number>): Promise<number> {
  for (let count = 0; ; ) {
    const changed = await change()
    count += changed
    if (changed < rowsPerUpdate) return count
  }
}
