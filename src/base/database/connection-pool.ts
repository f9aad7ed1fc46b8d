import { type ConnectionOptions, createPool, type PoolConnection } from 'mysql2'
import { DatabaseTimeoutError, PoolClosedError } from './database-errors.ts'
import type { PoolUsage } from './pool-metrics.ts'
import { type AbandonedSession, isWorkingFor, killSessions } from './server-sessions.ts'
import { socketOf, TimedConnection } from './timed-connection.ts'
import { type DatabaseTimeouts, sessionTimeouts } from './timeouts.ts'

/** A pool in the form in which Kysely's MySQL driver uses one. */
export interface ConnectionPool {
  getConnection(done: (error: unknown, connection?: TimedConnection) => void): void
  /** Waits until the connections in use are released, for as long as a statement may take, and closes all. */
  end(done: (error?: unknown) => void): void
  /** From now on no statement and no transaction gets more time than this; those in progress get it from now on. */
  limitTimeouts(maxMs: number): void
}

export interface ConnectionPoolOptions {
  readonly server: ConnectionOptions
  /** How many may be open at once. */
  readonly connections: number
  /** A connection that was not used for so long is closed; its prepared statements go with it. */
  readonly idleMs: number
  readonly timeouts: DatabaseTimeouts
  readonly usage: PoolUsage
}

/** A caller that wants a connection. */
interface Waiter {
  readonly done: (error: unknown, connection?: TimedConnection) => void
  readonly sinceMs: number
}

const maxConnectMs = 10_000
/** Callers that wait for a connection, at most. */
const maxWaiting = 5000
/** Sessions of which the server is told to end them, at most. */
const maxAbandoned = 1000
const maxTickMs = 250
/** How long the server gets to close its side of connections that we ended. */
const endMs = 1000

/**
 * mysql2's pool with what it lacks: callers wait for a connection in a bounded queue and for a limited time, and a connection
 * on which the database is silent is closed. One timer watches all of them.
 */
export function openConnectionPool({ server, connections, usage, ...options }: ConnectionPoolOptions): ConnectionPool {
  let { timeouts } = options
  const connectTimeout = Math.min(maxConnectMs, timeouts.statementMs)
  const pool = createPool({
    ...server,
    connectionLimit: connections,
    connectTimeout,
    // mysql2 looks for idle connections only where fewer than all may stay open. A pool of one keeps its connection, and with
    // it what belongs to it, such as a lock.
    maxIdle: Math.max(1, connections - 1),
    idleTimeout: options.idleMs,
    gracefulEnd: true,
  })
  const open = new Map<PoolConnection, TimedConnection>()
  const inUse = new Set<TimedConnection>()
  const queue = new Set<Waiter>()
  /** Those for whom a connection is being opened, or fetched. */
  const connecting = new Set<Waiter>()
  /** Sessions that the server may still have. */
  const abandoned: AbandonedSession[] = []
  /** How many connections may still be handed out. */
  let free = connections
  let isClosed = false
  let onAllReleased: () => void = () => undefined
  const tickMs = Math.min(maxTickMs, timeouts.statementMs / 20)
  let timer: Timer | undefined
  let nowMs = 0
  let tickedAtMs = 0

  pool.on('connection', raw => {
    const timed = new TimedConnection(raw, owner)
    open.set(raw, timed)
    socketOf(raw).once('close', () => open.delete(raw))
    // mysql2 emits an error for each thing that goes wrong with a connection that was given up already.
    raw.on('error', () => undefined)
    killAbandoned()
    for (const statement of sessionStatements(timeouts))
      raw.query(statement, (error: Error | null) => {
        if (error) timed.fail(error)
      })
  })

  const owner = {
    get timeouts() {
      return timeouts
    },
    now: () => nowMs,
    isWorkingFor: (threadId: number) => isWorkingFor(server, threadId),
    onRelease(timed: TimedConnection): void {
      if (!inUse.delete(timed)) return
      timed.raw.release()
      returned()
    },
    onDiscard(timed: TimedConnection, isSilent: boolean): void {
      open.delete(timed.raw)
      if (isSilent) {
        usage.countTimeout()
        if (abandoned.length < maxAbandoned) abandoned.push(timed)
        discardIdle()
      }
      if (inUse.delete(timed)) returned()
    },
  }

  /** The server answers again. */
  function killAbandoned(): void {
    const sessions = abandoned.splice(0)
    if (sessions.length > 0) killSessions(server, sessions).catch(() => abandoned.push(...sessions))
  }

  /** Where one connection was silent, the others probably are: who gets one next should not find out the same way. */
  function discardIdle(): void {
    for (const timed of [...open.values()])
      if (!inUse.has(timed)) timed.fail(new PoolClosedError('the connection was idle while the database was silent'))
  }

  function returned(): void {
    free++
    usage.inUse = inUse.size
    if (inUse.size === 0) onAllReleased()
    const [next] = queue
    if (next) connect(next)
  }

  function connect(waiter: Waiter): void {
    queue.delete(waiter)
    connecting.add(waiter)
    free--
    pool.getConnection((error, raw) => {
      const isWaiting = connecting.delete(waiter)
      const timed = open.get(raw)
      if (!error && timed && isWaiting) {
        inUse.add(timed)
        usage.inUse = inUse.size
        usage.waiting--
        return waiter.done(null, timed)
      }
      if ((error as { readonly code?: unknown } | null)?.code === 'ETIMEDOUT') usage.countTimeout()
      if (timed) raw.release()
      else raw?.destroy()
      if (isWaiting) giveUp(waiter, error ?? new DatabaseTimeoutError('the connection was closed at once'))
      returned()
    })
  }

  function giveUp(waiter: Waiter, error: Error): void {
    queue.delete(waiter)
    connecting.delete(waiter)
    usage.waiting--
    waiter.done(error)
  }

  function tick(): void {
    const at = performance.now()
    // Time in which this process did not run is not the database's: its answer may be there already.
    nowMs += Math.min(at - tickedAtMs, 2 * tickMs)
    tickedAtMs = at
    for (const timed of inUse) timed.check()
    for (const waiter of [...connecting, ...queue])
      if (nowMs - waiter.sinceMs > timeouts.statementMs) giveUp(waiter, noConnectionError(timeouts.statementMs))
    if (inUse.size + queue.size + connecting.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function startTimer(): void {
    if (timer) return
    tickedAtMs = performance.now()
    timer = setInterval(tick, tickMs)
  }

  return {
    getConnection(done) {
      if (isClosed) return done(new PoolClosedError('the database was closed'))
      if (queue.size >= maxWaiting)
        return done(new DatabaseTimeoutError(`${maxWaiting} callers wait for a connection to the database already`))
      usage.waiting++
      startTimer()
      const waiter = { done, sinceMs: nowMs }
      if (free > 0) connect(waiter)
      else queue.add(waiter)
    },
    limitTimeouts(maxMs) {
      timeouts = {
        statementMs: Math.min(timeouts.statementMs, maxMs),
        transactionMs: Math.min(timeouts.transactionMs, maxMs),
        overdue: 'fail',
      }
      for (const timed of inUse) timed.restartTimeouts()
    },
    end(done) {
      isClosed = true
      for (const waiter of [...connecting, ...queue]) giveUp(waiter, new PoolClosedError('the database was closed'))
      void allReleased().then(() => {
        clearInterval(timer)
        for (const timed of inUse) timed.fail(new PoolClosedError('the database was closed'))
        const sockets = [...open.keys()].map(socketOf)
        setTimeout(() => {
          for (const socket of sockets) socket.destroy()
        }, endMs).unref()
        // It reports an error for a connection that was being opened.
        pool.end(() => undefined)
        done()
      })
    },
  }

  /** Resolves when no connection is in use, at the latest after the time for a statement. */
  async function allReleased(): Promise<void> {
    if (inUse.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    onAllReleased = resolve
    const latest = setTimeout(resolve, timeouts.statementMs)
    await promise
    clearTimeout(latest)
  }
}

function noConnectionError(ms: number): Error {
  return new DatabaseTimeoutError(`there was no connection to the database within ${ms / 1000} s`)
}

function sessionStatements(timeouts: DatabaseTimeouts): readonly string[] {
  return [
    // Under REPEATABLE READ a claim with SKIP LOCKED blocks inserts.
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    `SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'${sessionTimeouts(timeouts)}`,
  ]
}
