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

/** What the migrations write by themselves. */
const tablesFilledByMigrations = ['kysely_migration', 'kysely_migration_lock', 'backup_runs']

/** The tables of a database that hold something of their own, and all there are. */
export async function selectFilledTables(
  db: Db,
): Promise<{ readonly all: readonly string[]; readonly filled: readonly string[] }> {
  const { rows } = await sql<{ name: string }>`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE() ORDER BY table_name`.execute(db)
  const all = rows.map(row => row.name)
  const filled: string[] = []
  for (const name of all.filter(value => !tablesFilledByMigrations.includes(value))) {
    const found = await sql`SELECT 1 FROM ${sql.table(name)} LIMIT 1`.execute(db)
    if (found.rows.length > 0) filled.push(name)
  }
  return { all, filled }
}

/** Drops tables that hold nothing, whatever refers to them. */
export async function dropTables(db: Db, names: readonly string[]): Promise<void> {
  await db.connection().execute(async connection => {
    await sql`SET SESSION foreign_key_checks = 0`.execute(connection)
    for (const name of names) await sql`DROP TABLE ${sql.table(name)}`.execute(connection)
    await sql`SET SESSION foreign_key_checks = 1`.execute(connection)
  })
}

/** Removes what the migrations wrote into a table. */
export async function deleteAllRows(tx: Db, table: string): Promise<void> {
  await sql`SET SESSION foreign_key_checks = 0`.execute(tx)
  await sql`DELETE FROM ${sql.table(table)}`.execute(tx)
}

/**
 * Loads rows of a table in statements of bounded size. What refers to what is as it was in the snapshot: not checked again.
 * `isThereAlready`: may a row be there, the same?
 */
export async function insertRestoredRows(
  tx: Db,
  table: string,
  columns: readonly BackupColumn[],
  rows: readonly (readonly ColumnValue[])[],
  isThereAlready = false,
): Promise<void> {
  await sql`SET SESSION foreign_key_checks = 0`.execute(tx)
  const mostRows = Math.min(statementRows, Math.floor(statementValues / columns.length))
  const names = columns.map(column => `\`${column.name}\``).join(', ')
  const one = `(${columns.map(() => '?').join(', ')})`
  const suffix = isThereAlready ? `ON DUPLICATE KEY UPDATE \`${columns[0]?.name}\` = \`${columns[0]?.name}\`` : ''
  let group: (readonly ColumnValue[])[] = []
  let bytes = 0
  const flush = async () => {
    if (group.length === 0) return
    const values = group.map(() => one).join(', ')
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
    if (group.length === mostRows || bytes >= statementBytes) await flush()
  }
  await flush()
}

/** Those of these blobs that the database has a row of. */
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

/** The next blobs by id, after one or from the first. */
export async function selectBlobsAfter(db: Db, after: string, limit: number) {
  return await db
    .selectFrom('blobs')
    .select(['id', 'sha256', 'size'])
    .where('id', '>', after as never)
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute()
}

/** Makes an empty database on the same server. @throws where the account may not */
export async function createDatabase(db: Db, name: string): Promise<void> {
  await sql`CREATE DATABASE ${sql.id(name)}`.execute(db)
}

export async function dropDatabase(db: Db, name: string): Promise<void> {
  await sql`DROP DATABASE IF EXISTS ${sql.id(name)}`.execute(db)
}

/** The databases of the server that the account sees, whose names begin so. */
export async function selectDatabases(db: Db, prefix: string): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`SELECT schema_name AS name FROM information_schema.schemata`.execute(db)
  return rows.map(row => row.name).filter(name => name.startsWith(prefix))
}

/** Says that somebody is at work under this name, as long as the connection lives; false: another does. */
export async function lockDatabaseName(connection: Db, name: string): Promise<boolean> {
  const { rows } = await sql<{
    taken: number | null
  }>`SELECT GET_LOCK(LEFT(SHA2(${name}, 256), 64), 0) AS taken`.execute(connection)
  return Number(rows[0]?.taken) === 1
}

export async function selectDatabaseName(db: Db): Promise<string> {
  const { rows } = await sql<{ name: string }>`SELECT DATABASE() AS name`.execute(db)
  return rows[0]?.name ?? ''
}

/** Messages and emails whose bytes the database has no row of; how many of each. */
export async function countRowsWithoutBlob(db: Db, table: 'messages' | 'emails'): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM ${sql.table(table)} AS referring
    LEFT JOIN blobs ON blobs.id = referring.blob_id WHERE blobs.id IS NULL`.execute(db)
  return Number(rows[0]?.count)
}

const rowsPerUpdate = 1000

/** Keeps all that waits to be sent from being submitted, until the operator releases it; how many recipients that are. */
export async function suspendOutbox(db: Db, reason: string, now: Instant): Promise<number> {
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

/** Disables all keys that could be used, until the operator enables them; how many that are. */
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
