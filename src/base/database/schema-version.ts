import { sql } from 'kysely'
import { version } from '../version.ts'
import type { Db } from './database.ts'

/** The schema is a newer version's and this one cannot use it; the message tells the operator what to do. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError'
}

/**
 * The applied migrations of a newer version that are not among `known`. While none of them is in `schema_floor`, a version
 * that has only `known` may use the schema: during an upgrade, and after one was rolled back.
 * @throws NewerSchemaError
 */
export async function newerMigrations(db: Db, known: readonly string[]): Promise<readonly string[]> {
  const applied = await appliedMigrations(db)
  const newer = applied.filter(value => !known.includes(value)).sort()
  if (newer.length === 0) return []
  const floor = await namesIn(db, 'schema_floor', 'migration')
  const needed = floor.filter(value => !known.includes(value)).sort()
  if (needed.length > 0 || !known.every(value => applied.includes(value)))
    throw new NewerSchemaError(
      `The database schema was migrated to ${newer.at(-1)} by a newer version of Mailroom, and ${version} cannot use it: start that version again, or restore a backup from before the upgrade into an empty database.`,
    )
  return newer
}

/** The names of the migrations that have run on this schema, in no particular order; of an empty database: none. */
export async function appliedMigrations(db: Db): Promise<readonly string[]> {
  return namesIn(db, 'kysely_migration', 'name')
}

async function namesIn(db: Db, table: string, column: string): Promise<readonly string[]> {
  const { rows: found } = await sql`SELECT 1 FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name = ${table}`.execute(db)
  if (found.length === 0) return []
  const { rows } = await sql<{ name: string }>`SELECT ${sql.ref(column)} AS name FROM ${sql.table(table)}`.execute(db)
  return rows.map(row => row.name)
}
