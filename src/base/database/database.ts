import { Kysely, MysqlDialect, type MysqlPoolConnection } from 'kysely'
import { createPool, type FieldPacket, type Pool, type PoolConnection, Types } from 'mysql2'
import { type PoolUsage, trackPool } from './pool-metrics.ts'
import type { DatabaseSchema } from './schema.ts'

/** The database, or a transaction on it: what every function that asks it takes first. */
export type Db = Kysely<DatabaseSchema>

/** A pool of connections; one for each role, so that none starves another. */
export interface Database {
  readonly db: Db
  close(): Promise<void>
}

/**
 * A pool on `url` (`mysql://user:password@host:port/name`, optionally `?socketPath=…`).
 * Connections are opened when they are first needed. Date-times come and go as text (see clock.ts), in UTC.
 * @param name what its use is shown as in the metrics; without it that is not shown
 */
export function openDatabase(url: string, connections: number, name?: string): Database {
  const address = new URL(url)
  const socketPath = address.searchParams.get('socketPath')
  const pool = createPool({
    ...(socketPath
      ? { socketPath }
      : { host: address.hostname.replace(/^\[|\]$/g, ''), port: Number(address.port || 3306) }),
    user: decodeURIComponent(address.username),
    password: decodeURIComponent(address.password),
    database: decodeURIComponent(address.pathname.slice(1)),
    connectionLimit: connections,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    dateStrings: true,
    maxPreparedStatements: 256,
    connectTimeout: 10_000,
    enableKeepAlive: true,
  })
  pool.on('connection', connection => {
    // Under REPEATABLE READ a claim with SKIP LOCKED blocks inserts.
    connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
    connection.query("SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'")
  })
  const db = new Kysely<DatabaseSchema>({
    dialect: new MysqlDialect({ pool: withPreparedStatements(pool, trackPool(connections, name)) }),
  })
  return { db, close: () => db.destroy() }
}

/**
 * Kysely's MySQL driver sends text, which doubles the size of binary values; prepared statements do not. Each connection is
 * counted in `use` while somebody has it.
 */
function withPreparedStatements(pool: Pool, deps: PoolUsage) {
  const prepared = new WeakMap<PoolConnection, MysqlPoolConnection>()
  const out = new WeakSet<PoolConnection>()
  const giveBack = (connection: PoolConnection) => {
    if (out.delete(connection)) deps.inUse--
  }
  const prepare = (connection: PoolConnection): MysqlPoolConnection => {
    const known = prepared.get(connection)
    if (known) return known
    const made = {
      query: (statement: string, parameters: readonly unknown[], done: (error: unknown, result: unknown) => void) =>
        parameters.length === 0
          ? connection.query(statement, done)
          : connection.execute(statement, parameters as never[], (error, rows, fields) =>
              done(error, withWholeInstants(rows, fields)),
            ),
      release: () => {
        giveBack(connection)
        connection.release()
      },
      destroy: () => {
        giveBack(connection)
        connection.destroy()
      },
    } as unknown as MysqlPoolConnection
    prepared.set(connection, made)
    return made
  }
  return {
    getConnection: (done: (error: unknown, connection: MysqlPoolConnection) => void) => {
      deps.waiting++
      pool.getConnection((error, connection) => {
        deps.waiting--
        if (error) return done(error, undefined as never)
        out.add(connection)
        deps.inUse++
        done(null, prepare(connection))
      })
    },
    end: (done: (error: unknown) => void) => pool.end(done),
  } as never
}

/** mysql2 leaves out the fraction of a DATETIME(6) that has none, from a prepared statement; an Instant has six digits. */
function withWholeInstants(rows: unknown, fields: readonly FieldPacket[] | undefined): unknown {
  const names = (fields ?? []).filter(field => field?.columnType === Types.DATETIME).map(field => field.name)
  if (names.length === 0 || !Array.isArray(rows)) return rows
  for (const row of rows as Record<string, unknown>[])
    for (const name of names) {
      const value = row[name]
      if (typeof value === 'string' && value.length === 19) row[name] = `${value}.000000`
    }
  return rows
}

const maxTries = 5

/**
 * Runs `work` in one transaction, READ COMMITTED, and commits it. The whole of it is tried again after a deadlock or a
 * lock wait that ran out, so it must do nothing outside the transaction and no network.
 */
export async function inTransaction<Result>(db: Db, work: (db: Db) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (attempt === maxTries || !isLockConflict(error)) throw error
      await Bun.sleep(5 * 2 ** attempt * Math.random())
    }
  }
}

function errnoOf(error: unknown): number | undefined {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined
}

/** What the transaction stood on is gone: the whole of it is to be tried again, as after a deadlock. */
export class LockLostError extends Error {
  override readonly name = 'LockLostError'
}

function isLockConflict(error: unknown): boolean {
  if (error instanceof LockLostError) return true
  const errno = errnoOf(error)
  return errno === 1205 || errno === 1213
}

/** Did an insert or update meet a row that already has these unique values? `index` narrows it to one unique index. */
export function isDuplicate(error: unknown, index?: string): boolean {
  return errnoOf(error) === 1062 && (index === undefined || (error as Error).message.includes(index))
}

const connectionErrorCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR',
  'POOL_CLOSED',
])

/** A file could not be written, the disk is full, a table is full. */
const diskFullErrorNumbers = new Set([3, 1021, 1026, 1114])

/** Has the database no room for what was to be written? */
export function isDatabaseFull(error: unknown): boolean {
  const errno = errnoOf(error)
  // 1030: what the storage engine was told, which for a full disk is 28 (ENOSPC).
  return diskFullErrorNumbers.has(errno ?? 0) || (errno === 1030 && /\b28\b/.test((error as Error).message))
}

// Too many connections, shutting down, killed, read-only, waiting too long.
const serverErrorNumbers = new Set([1040, 1053, 1180, 1205, 1213, 1290, 1317, 1792, 1836, 1927, 3024])

/** Is the database itself away, full or read-only, so that the same work may succeed later? */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, fatal } = error as { code?: unknown; fatal?: unknown }
  // What mysql2 says of a connection that is gone: for all that is asked of it afterwards without any code.
  if (fatal === true) return true
  if (typeof code === 'string' && connectionErrorCodes.has(code)) return true
  return serverErrorNumbers.has(errnoOf(error) ?? 0) || isDatabaseFull(error)
}
