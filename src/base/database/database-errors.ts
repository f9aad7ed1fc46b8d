/**
 * The database gave no answer, or no connection, in time. What was asked may still be carried out, unless it belongs to a
 * transaction: that is rolled back.
 */
export class DatabaseTimeoutError extends Error {
  override readonly name = 'DatabaseTimeoutError'
  readonly code = 'DATABASE_TIMEOUT'
  /** As mysql2 marks errors after which the connection cannot be used. */
  readonly fatal = true
}

/** The connection was lost, or gave no answer, after COMMIT was sent: nobody knows whether the transaction took place. */
export class CommitUnknownError extends Error {
  override readonly name = 'CommitUnknownError'
  readonly code = 'COMMIT_UNKNOWN'
  readonly fatal = true

  constructor(cause: Error) {
    super(`it is unknown whether a transaction was committed: ${cause.message}`, { cause })
  }
}

/** The pool was closed, as it is when the process stops. */
export class PoolClosedError extends Error {
  override readonly name = 'PoolClosedError'
  readonly code = 'POOL_CLOSED'
  readonly fatal = true
}

const connectionErrorCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR',
])

/** Whether the connection was lost, gave no answer in time or could not be opened. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, fatal } = error as { code?: unknown; fatal?: unknown }
  // mysql2 marks the errors of a lost connection, also of later queries on it, which have no code.
  return fatal === true || (typeof code === 'string' && connectionErrorCodes.has(code))
}
