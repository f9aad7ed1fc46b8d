import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'

const variableNames = [
  'version',
  'version_comment',
  'innodb_flush_log_at_trx_commit',
  'log_bin',
  'sync_binlog',
  'innodb_doublewrite',
  'binlog_format',
  'max_allowed_packet',
  'max_connections',
  'innodb_buffer_pool_size',
  'read_only',
  'super_read_only',
  'innodb_read_only',
  'lower_case_table_names',
] as const

/** A server's settings, as text; absent: this server has no such setting. */
export type ServerVariables = Readonly<Partial<Record<(typeof variableNames)[number], string>>>

export async function selectServerVariables(db: Db): Promise<ServerVariables> {
  const { rows } = await sql<{ readonly Variable_name: string; readonly Value: string }>`SHOW GLOBAL VARIABLES
    WHERE Variable_name IN (${sql.join(variableNames.map(name => sql.lit(name)))})`.execute(db)
  return Object.fromEntries(rows.map(row => [row.Variable_name, row.Value]))
}

/** The highest number of connections at once since the server started. */
export async function selectMaxConnectionsUsed(db: Db): Promise<number> {
  const { rows } = await sql<{ readonly Value: string }>`SHOW GLOBAL STATUS LIKE 'Max_used_connections'`.execute(db)
  return Number(rows[0]?.Value ?? 0)
}

/** The clock of the server, UTC. */
export async function selectServerTime(db: Db): Promise<Instant> {
  const { rows } = await sql<{ readonly now: Instant }>`SELECT CAST(UTC_TIMESTAMP(6) AS CHAR) AS now`.execute(db)
  return rows[0]?.now as Instant
}

/** The default character set of the database. */
export async function selectCharacterSet(db: Db): Promise<string> {
  const { rows } = await sql<{ readonly name: string }>`SELECT DEFAULT_CHARACTER_SET_NAME AS name
    FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = DATABASE()`.execute(db)
  return rows[0]?.name ?? 'none'
}

/** The migrations that have been applied; empty: the tables have not been created yet. */
export async function selectAppliedMigrations(db: Db): Promise<readonly string[]> {
  const { rows: tables } = await sql`SELECT 1 FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'kysely_migration'`.execute(db)
  if (tables.length === 0) return []
  const { rows } = await sql<{ readonly name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(db)
  return rows.map(row => row.name)
}
