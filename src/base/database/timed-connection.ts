import type { Socket } from 'node:net'
import { type FieldPacket, type PoolConnection, Types } from 'mysql2'
import { CommitUnknownError, DatabaseTimeoutError, isConnectionLost } from './database-errors.ts'
import { executePrepared } from './prepared-statements.ts'
import type { DatabaseTimeouts } from './timeouts.ts'

type Done = (error: unknown, result?: unknown) => void

/** What a connection needs of its pool. */
export interface ConnectionOwner {
  readonly timeouts: DatabaseTimeouts
  /** A coarse clock in milliseconds, which stands still while this process does. */
  readonly now: () => number
  /** Asks the server, over another connection, whether it is working for this connection. */
  readonly isWorkingFor: (threadId: number) => Promise<boolean>
  readonly onRelease: (connection: TimedConnection) => void
  /** It was closed and left the pool. `isSilent`: because the database did not answer. */
  readonly onDiscard: (connection: TimedConnection, isSilent: boolean) => void
}

/** No statement goes on for longer, whatever the server says. */
const maxStatementMs = 6 * 3_600_000

/**
 * A connection of the pool in the form in which Kysely's MySQL driver uses one. A statement with parameters is prepared:
 * sent as text, binary values would double their size. Each statement has a timeout, and so has each transaction; after one
 * the connection is in an unknown state and is closed. mysql2's own timeout leaves it open, and what mysql2 closes itself
 * is only half closed and calls nobody back.
 */
export class TimedConnection {
  readonly raw: PoolConnection
  readonly threadId: number
  readonly openedAtMs = performance.now()
  private readonly owner: ConnectionOwner
  /** The callbacks of the statements that have no answer yet; the server works on the oldest. */
  private readonly unanswered = new Set<Done>()
  /** When the server began with the oldest of them. */
  private askedAtMs = 0
  /** The same, and since then it may have said that it is still at it. */
  private heardAtMs = 0
  private isAsking = false
  /** When the transaction began; undefined: there is none. */
  private begunAtMs: number | undefined
  /** Whether the server commits each statement by itself. */
  private isAutocommit = true
  private isCorked = false
  /** Why it was closed. */
  private failure: Error | undefined

  constructor(raw: PoolConnection, owner: ConnectionOwner) {
    this.raw = raw
    this.threadId = raw.threadId
    this.owner = owner
  }

  /** Called by Kysely. */
  query(statement: string, parameters: readonly unknown[], done: Done): void {
    if (statement === 'begin') this.begin(done)
    else if (statement === 'commit') this.sendText(statement, this.afterCommit(done))
    else if (statement === 'rollback') this.sendText(statement, this.afterRollback(done))
    else if (this.begunAtMs !== undefined || this.isAutocommit) this.run(statement, parameters, done)
    else this.runAlone(statement, parameters, done)
  }

  /** Lets the server commit the statement by itself, on a connection that had a transaction. */
  private runAlone(statement: string, parameters: readonly unknown[], done: Done): void {
    const runNext = () => this.run(statement, parameters, done)
    if (isSelect(statement)) {
      // What changes nothing need not wait for the answer.
      this.setAutocommit(true, () => undefined)
      runNext()
    } else this.setAutocommit(true, error => (error ? done(error) : runNext()))
  }

  private run(statement: string, parameters: readonly unknown[], done: Done): void {
    if (parameters.length === 0) this.sendText(statement, done)
    else
      this.send(
        done,
        answered =>
          executePrepared(this.raw, statement, parameters, (error, rows, fields) =>
            answered(error, withWholeInstants(rows, fields)),
          ),
        isLarge(parameters),
      )
  }

  /**
   * Not by BEGIN: a deadlock ends the transaction, and the server would commit what was sent after the statement that ran into
   * it. So it goes on in a transaction that is rolled back. The connection stays without autocommit until it is used otherwise.
   */
  private begin(done: Done): void {
    this.begunAtMs = this.owner.now()
    if (this.isAutocommit) this.setAutocommit(false, done)
    else done(this.failure ?? null, {})
  }

  private setAutocommit(isOn: boolean, done: Done): void {
    // From when it may be on until the server has said that it is off, it counts as on: then a transaction turns it off.
    if (isOn) this.isAutocommit = true
    this.sendText(`SET autocommit = ${isOn ? 1 : 0}`, (error, result) => {
      if (error) this.fail(error as Error)
      else this.isAutocommit = isOn
      done(error, result)
    })
  }

  /** Called by Kysely. */
  release(): void {
    this.begunAtMs = undefined
    if (!this.failure) this.owner.onRelease(this)
  }

  /** Called by the pool now and then: closes the connection where a timeout has passed. */
  check(): void {
    const { timeouts, now } = this.owner
    const nowMs = now()
    const isTransactionLate = this.begunAtMs !== undefined && nowMs - this.begunAtMs > timeouts.transactionMs
    const isStatementLate = this.unanswered.size > 0 && nowMs - this.heardAtMs > timeouts.statementMs
    if (isTransactionLate)
      this.fail(new DatabaseTimeoutError(`a transaction took longer than ${seconds(timeouts.transactionMs)}`))
    else if (!isStatementLate) return
    else if (timeouts.overdue === 'ask' && nowMs - this.askedAtMs < maxStatementMs) void this.askServer()
    else this.failSilent()
  }

  /** Counts from now on what is in progress. */
  restartTimeouts(): void {
    this.askedAtMs = this.heardAtMs = this.owner.now()
    if (this.begunAtMs !== undefined) this.begunAtMs = this.heardAtMs
  }

  /** Closes the connection: its statements fail with `error`, and later ones too. */
  fail(error: Error): void {
    if (this.failure) return
    this.failure = error
    this.raw.destroy()
    // mysql2 only ends its side, and a server that is silent never ends the other.
    socketOf(this.raw).destroy()
    this.owner.onDiscard(this, error instanceof DatabaseTimeoutError)
    for (const done of this.unanswered) done(error)
    this.unanswered.clear()
  }

  private afterCommit(done: Done): Done {
    const wasSent = this.failure === undefined
    return (error, result) => {
      this.begunAtMs = undefined
      done(wasSent && isCommitUnknown(error) ? new CommitUnknownError(error as Error) : error, result)
    }
  }

  /** A connection that was lost, or is closed now, rolls back; the error that led to it is the one to report. */
  private afterRollback(done: Done): Done {
    return (error, result) => {
      this.begunAtMs = undefined
      if (error) this.fail(error as Error)
      done(null, error ? {} : result)
    }
  }

  private sendText(statement: string, done: Done): void {
    this.send(done, answered => this.raw.query(statement, answered))
  }

  private send(done: Done, run: (answered: Done) => void, isLarge = false): void {
    if (this.failure) {
      done(this.failure)
      return
    }
    const { unanswered, owner } = this
    if (unanswered.size === 0) this.askedAtMs = this.heardAtMs = owner.now()
    unanswered.add(done)
    if (isLarge) this.uncork()
    else this.cork()
    try {
      run((error, result) => {
        if (!unanswered.delete(done)) return
        this.askedAtMs = this.heardAtMs = owner.now()
        done(error, result)
      })
    } catch (error) {
      // A parameter that cannot be sent.
      unanswered.delete(done)
      throw error
    }
  }

  /** What is sent before the next turn of the event loop leaves in one write: each costs more than a small statement. */
  private cork(): void {
    if (this.isCorked) return
    this.isCorked = true
    socketOf(this.raw).cork()
    process.nextTick(() => this.uncork())
  }

  private uncork(): void {
    if (!this.isCorked) return
    this.isCorked = false
    socketOf(this.raw).uncork()
  }

  private async askServer(): Promise<void> {
    if (this.isAsking) return
    this.isAsking = true
    const askedAtMs = this.askedAtMs
    const isWorking = await this.owner.isWorkingFor(this.threadId)
    this.isAsking = false
    if (this.failure || askedAtMs !== this.askedAtMs) return
    if (isWorking) this.heardAtMs = this.owner.now()
    else this.failSilent()
  }

  private failSilent(): void {
    const { statementMs } = this.owner.timeouts
    this.fail(new DatabaseTimeoutError(`the database did not answer a statement within ${seconds(statementMs)}`))
  }
}

/** In bytes. To copy so much into one write with other statements costs more than a write of its own. */
const minLargeBytes = 64 * 1024

function isLarge(parameters: readonly unknown[]): boolean {
  let bytes = 0
  for (const parameter of parameters) if (parameter instanceof Uint8Array) bytes += parameter.length
  return bytes >= minLargeBytes
}

/** Whether a statement only reads, or locks. */
export function isSelect(statement: string): boolean {
  return /^\s*select\b/i.test(statement)
}

/** Failed in COMMIT (1180), interrupted (1317, 1969, 3024), killed (1927). */
const interruptedErrorNumbers = new Set<unknown>([1180, 1317, 1927, 1969, 3024])

/** Whether an error of COMMIT leaves it open whether the transaction took place. */
function isCommitUnknown(error: unknown): boolean {
  return (
    isConnectionLost(error) || (error instanceof Error && 'errno' in error && interruptedErrorNumbers.has(error.errno))
  )
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}

/** mysql2 does not declare it. */
export function socketOf(connection: unknown): Socket {
  return (connection as { readonly stream: Socket }).stream
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
