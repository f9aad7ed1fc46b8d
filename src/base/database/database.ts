import { Kysely, MysqlDialect, type MysqlPool } from 'kysely'
import { openConnectionPool } from './connection-pool.ts'
import { CommitUnknownError, isConnectionLost } from './database-errors.ts'
import { trackPool } from './pool-metrics.ts'
import type { DatabaseSchema } from './schema.ts'
import { type DatabaseWorkload, timeoutsFor } from './timeouts.ts'
import { runTransaction } from './transaction.ts'

/** The database or a transaction: the first parameter of every function that queries. */
export type Db = Kysely<DatabaseSchema>

/** A pool of connections. Each role has its own, so that no role starves another. */
export interface Database {
  readonly db: Db
  /**
   * From now on nothing gets more time than this, nor does what is in progress: for a process that stops, which would wait
   * long for a database that is silent.
   */
  limitTimeouts(maxMs: number): void
  /** Waits for the work in progress, and closes the connections. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** The label of the pool in the metrics; absent: it has no metrics. */
  readonly name?: string
  /** By default `background`: statements that the server is still working on are not cut off. */
  readonly workload?: DatabaseWorkload
}

/**
 * A pool on `url` (`mysql://user:password@host:port/name`, optionally `?socketPath=…`; tests also shorten the timeouts, by
 * `?timeoutMs=…` and `?idleMs=…`). Connections are opened when they are needed, and closed after half a minute without use;
 * a pool of one keeps its own, and the locks that belong to it.
 * Date-times are read and written as text (see clock.ts), in UTC. When the database does not answer within 15 s the
 * connection is closed, and what was asked fails with an error that {@link isDatabaseUnavailable} knows.
 * @param connections how many may be open at once
 */
export function openDatabase(
  url: string,
  connections: number,
  { name, workload = 'background' }: DatabaseOptions = {},
): Database {
  const address = new URL(url)
  const socketPath = address.searchParams.get('socketPath')
  const timeoutMs = address.searchParams.get('timeoutMs')
  const idleMs = address.searchParams.get('idleMs')
  const pool = openConnectionPool({
    server: {
      ...(socketPath
        ? { socketPath }
        : { host: address.hostname.replace(/^\[|\]$/g, ''), port: Number(address.port || 3306) }),
      user: decodeURIComponent(address.username),
      password: decodeURIComponent(address.password),
      database: decodeURIComponent(address.pathname.slice(1)),
      charset: 'utf8mb4_bin',
      timezone: 'Z',
      dateStrings: true,
      // Inserts differ by their number of rows. A server allows 16,382 statements in all by default, to all processes.
      maxPreparedStatements: 128,
      enableKeepAlive: true,
    },
    connections,
    idleMs: idleMs === null ? defaultIdleMs : Number(idleMs),
    timeouts: timeoutsFor(workload, timeoutMs === null ? undefined : Number(timeoutMs)),
    usage: trackPool(connections, name),
  })
  const db = new Kysely<DatabaseSchema>({ dialect: new MysqlDialect({ pool: pool as unknown as MysqlPool }) })
  return { db, limitTimeouts: maxMs => pool.limitTimeouts(maxMs), close: () => db.destroy() }
}

const defaultIdleMs = 30_000

const maxTries = 5
/** No further attempt begins later than this after the first, in milliseconds. */
const retryMs = 10_000
/** For so long the database is asked whether a transaction was committed. */
const lookupMs = 15_000
const lookupEveryMs = 250

/**
 * Finds out whether a transaction took place whose COMMIT got no answer; `result` is what its work gave. It has to look with
 * a lock (FOR UPDATE): that waits until the server has ended the transaction one way or the other.
 */
export type CommitLookup<Result> = (db: Db, result: Result) => Promise<boolean>

/**
 * Runs `work` in one READ COMMITTED transaction and commits it. All of `work` is retried after a deadlock (1213) or a lock
 * wait timeout (1205), up to five times: it must have no effects outside the transaction, and do no network I/O.
 * @param wasCommitted called when COMMIT got no answer; where it finds nothing, `work` is retried too. Absent: a
 * CommitUnknownError is thrown
 */
export async function inTransaction<Result>(
  db: Db,
  work: (db: Db) => Promise<Result>,
  wasCommitted?: CommitLookup<Result>,
): Promise<Result> {
  const startedMs = performance.now()
  for (let attempt = 1; ; attempt++) {
    const worked: { result?: Result } = {}
    try {
      return await runTransaction(db, async tx => {
        worked.result = await work(tx)
        return worked.result
      })
    } catch (error) {
      if (error instanceof CommitUnknownError && wasCommitted) {
        const result = worked.result as Result
        if (await lookUpCommit(db, result, wasCommitted, error)) return result
      } else if (!isLockConflict(error) || performance.now() - startedMs > retryMs) throw error
      if (attempt === maxTries) throw error
      await Bun.sleep(5 * 2 ** attempt * Math.random())
    }
  }
}

/** Waits for the database where it has to. @throws `unknown` when that takes too long */
async function lookUpCommit<Result>(
  db: Db,
  result: Result,
  wasCommitted: CommitLookup<Result>,
  unknown: CommitUnknownError,
): Promise<boolean> {
  for (const startedMs = performance.now(); ; await Bun.sleep(lookupEveryMs))
    try {
      return await wasCommitted(db, result)
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
      if (performance.now() - startedMs > lookupMs) throw unknown
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

/** Whether a statement with NOWAIT found a row that another transaction has locked: MariaDB says 1205, MySQL 3572. */
export function isLockedRow(error: unknown): boolean {
  const errno = errnoOf(error)
  return errno === 1205 || errno === 3572
}

/** A file could not be written (3, 1026), the disk is full (1021), a table is full (1114). */
const diskFullErrorNumbers = new Set([3, 1021, 1026, 1114])

/** Whether a write failed because the disk of the database, or a table, is full. */
export function isDatabaseFull(error: unknown): boolean {
  const errno = errnoOf(error)
  // 1030 quotes the error of the storage engine: 28 (ENOSPC) for a full disk.
  return diskFullErrorNumbers.has(errno ?? 0) || (errno === 1030 && /\b28\b/.test((error as Error).message))
}

// Too many connections (1040, of the account 1203 and 1226), shutting down, killed, read-only, timed out.
const serverErrorNumbers = new Set([1040, 1053, 1180, 1203, 1205, 1213, 1226, 1290, 1317, 1792, 1836, 1927, 1969, 3024])

/** Whether the database is unreachable, silent, full or read-only, so that the same work may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return isConnectionLost(error) || serverErrorNumbers.has(errnoOf(error) ?? 0) || isDatabaseFull(error)
}
