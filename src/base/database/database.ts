import { Kysely, MysqlDialect, type MysqlPoolConnection } from 'kysely'
import { createPool, type FieldPacket, type Pool, type PoolConnection, Types } from 'mysql2'
import { type PoolUsage, trackPool } from './pool-metrics.ts'
import { executePrepared } from './prepared-statements.ts'
import type { DatabaseSchema } from './schema.ts'

/** The database or a transaction: the first parameter of every function that queries. */
export type Db = Kysely<DatabaseSchema>

/** A pool of connections. Each role has its own, so that no role starves another. */
export interface Database {
  readonly db: Db
  close(): Promise<void>
}

/**
 * A pool on `url` (`mysql://user:password@host:port/name`, optionally `?socketPath=…`).
 * Connections are opened when they are needed. Date-times are read and written as text (see clock.ts), in UTC.
 * @param connections how many may be open at once
 * @param name the label of the pool in the metrics; absent: it has no metrics
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
 * Makes Kysely use prepared statements: its MySQL driver sends parameters as text, which doubles the size of binary values.
 * Counts the connections in use in `usage`.
 */
function withPreparedStatements(pool: Pool, usage: PoolUsage) {
  const prepared = new WeakMap<PoolConnection, MysqlPoolConnection>()
  const inUse = new WeakSet<PoolConnection>()
  const countReturn = (connection: PoolConnection) => {
    if (inUse.delete(connection)) usage.inUse--
  }
  const prepare = (connection: PoolConnection): MysqlPoolConnection => {
    const existing = prepared.get(connection)
    if (existing) return existing
    const wrapped = {
      query: (statement: string, parameters: readonly unknown[], done: (error: unknown, result: unknown) => void) =>
        parameters.length === 0
          ? connection.query(statement, done)
          : executePrepared(connection, statement, parameters, (error, rows, fields) =>
              done(error, withWholeInstants(rows, fields)),
            ),
      release: () => {
        countReturn(connection)
        connection.release()
      },
      destroy: () => {
        countReturn(connection)
        connection.destroy()
      },
    } as unknown as MysqlPoolConnection
    prepared.set(connection, wrapped)
    return wrapped
  }
  return {
    getConnection: (done: (error: unknown, connection: MysqlPoolConnection) => void) => {
      usage.waiting++
      pool.getConnection((error, connection) => {
        usage.waiting--
        if (error) return done(error, undefined as never)
        inUse.add(connection)
        usage.inUse++
        done(null, prepare(connection))
      })
    },
    end: (done: (error: unknown) => void) => pool.end(done),
  } as never
}

/** mysql2 drops a fraction of zero from a DATETIME(6) of a prepared statement; an Instant always has six digits. */
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
 * Runs `work` in one READ COMMITTED transaction and commits it. All of `work` is retried after a deadlock (1213) or a lock
 * wait timeout (1205), up to five times: it must have no effects outside the transaction, and do no network I/O.
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

/** A row that the transaction relied on is gone: the transaction is retried, as after a deadlock. */
export class LockLostError extends Error {
  override readonly name = 'LockLostError'
}

function isLockConflict(error: unknown): boolean {
  if (error instanceof LockLostError) return true
  const errno = errnoOf(error)
  return errno === 1205 || errno === 1213
}

/** Whether an insert or update failed because the unique values exist already; `index` limits it to one unique index. */
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

/** A file could not be written (3, 1026), the disk is full (1021), a table is full (1114). */
const diskFullErrorNumbers = new Set([3, 1021, 1026, 1114])

/** Whether a write failed because the disk of the database, or a table, is full. */
export function isDatabaseFull(error: unknown): boolean {
  const errno = errnoOf(error)
  // 1030 quotes the error of the storage engine: 28 (ENOSPC) for a full disk.
  return diskFullErrorNumbers.has(errno ?? 0) || (errno === 1030 && /\b28\b/.test((error as Error).message))
}

// Too many connections, shutting down, killed, read-only, timed out.
const serverErrorNumbers = new Set([1040, 1053, 1180, 1205, 1213, 1290, 1317, 1792, 1836, 1927, 3024])

/** Whether the database is unreachable, full or read-only, so that the same work may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, fatal } = error as { code?: unknown; fatal?: unknown }
  // mysql2 marks the errors of a lost connection, also of later queries on it, which have no code.
  if (fatal === true) return true
  if (typeof code === 'string' && connectionErrorCodes.has(code)) return true
  return serverErrorNumbers.has(errnoOf(error) ?? 0) || isDatabaseFull(error)
}
