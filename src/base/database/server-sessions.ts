import type { ConnectionOptions, RowDataPacket } from 'mysql2'
import { type Connection, createConnection } from 'mysql2/promise'
import { DatabaseTimeoutError } from './database-errors.ts'

/** A session that the server may still have although its connection was given up. */
export interface AbandonedSession {
  readonly threadId: number
  /** When its connection was opened: `performance.now()`. */
  readonly openedAtMs: number
}

const askMs = 5000

/**
 * Whether the server is working on a statement of its session `threadId`. A server that refuses to say so, for instance
 * because it has too many connections, is not silent: then it may be.
 */
export async function isWorkingFor(server: ConnectionOptions, threadId: number): Promise<boolean> {
  try {
    return await onOwnConnection(server, async connection => {
      const [rows] = await connection.query<RowDataPacket[]>(
        "SELECT 1 FROM information_schema.processlist WHERE id = ? AND command <> 'Sleep'",
        [threadId],
      )
      return rows.length > 0
    })
  } catch (error) {
    return typeof (error as { readonly errno?: unknown }).errno === 'number'
  }
}

/**
 * Ends these sessions: a server that does not learn that their connections are gone keeps their transactions open, and with
 * them their locks. After a restart of the server their numbers may be those of others, so it ends none that is older.
 */
export async function killSessions(server: ConnectionOptions, sessions: readonly AbandonedSession[]): Promise<void> {
  await onOwnConnection(server, async connection => {
    const [rows] = await connection.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Uptime'")
    const startedAtMs = performance.now() - Number(rows[0]?.['Value'] ?? 0) * 1000
    // It fails for one that has ended by itself.
    for (const { threadId, openedAtMs } of sessions)
      if (openedAtMs > startedAtMs) await connection.query(`KILL ${threadId}`).catch(() => undefined)
  })
}

/** @throws DatabaseTimeoutError after five seconds */
async function onOwnConnection<Result>(
  server: ConnectionOptions,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new DatabaseTimeoutError('the database did not answer within 5 s')), askMs)
  const opening = createConnection({ ...server, connectTimeout: askMs })
  try {
    return await Promise.race([late, opening.then(work)])
  } finally {
    clearTimeout(timer)
    opening.then(
      connection => connection.destroy(),
      () => undefined,
    )
  }
}
