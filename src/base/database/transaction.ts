import { CompiledQuery, type DatabaseConnection, type Kysely, MysqlDialect, Transaction } from 'kysely'
import type { DatabaseSchema } from './schema.ts'
import { isSelect } from './timed-connection.ts'

const begin = CompiledQuery.raw('begin')
const commit = CompiledQuery.raw('commit')
const rollback = CompiledQuery.raw('rollback')

// A transaction has its connection; nothing else asks for one.
const dialect = new MysqlDialect({ pool: () => Promise.reject(new Error('a transaction opens no connection')) })
const base = { config: { dialect }, dialect, driver: dialect.createDriver() }

/**
 * Runs `work` in one transaction, as Kysely does, except that statements which are begun together are sent together: the server
 * runs them one after the other in the order in which they were begun, without a round trip between them. Where one fails, those
 * sent after it may have run; all of them are rolled back. Nothing can be begun once `work` has ended.
 */
export async function runTransaction<Result>(
  db: Kysely<DatabaseSchema>,
  work: (tx: Transaction<DatabaseSchema>) => Promise<Result>,
): Promise<Result> {
  const executor = db.getExecutor()
  return await executor.provideConnection(async connection => {
    const transaction = new ConnectionInTransaction(connection)
    const tx = new Transaction<DatabaseSchema>({ ...base, executor: executor.withConnectionProvider(transaction) })
    try {
      const result = await work(tx)
      await transaction.commit()
      return result
    } catch (error) {
      await transaction.rollback()
      throw error
    }
  })
}

/** Gives statements the connection of a transaction, as long as that goes on. */
class ConnectionInTransaction {
  private readonly connection: DatabaseConnection
  private readonly begun: Promise<unknown>
  private readonly guarded: DatabaseConnection
  private isBegun = false
  private isWaiting = false
  private isEnded = false

  constructor(connection: DatabaseConnection) {
    this.connection = connection
    this.begun = connection.executeQuery(begin)
    // Whoever waits for it is told of a failure, and COMMIT waits.
    this.begun.then(
      () => {
        this.isBegun = true
      },
      () => undefined,
    )
    this.guarded = {
      executeQuery: async query => {
        if (!this.isBegun && (this.isWaiting || !isSelect(query.sql))) {
          // Without a transaction it would be committed at once. What comes after it keeps its place.
          this.isWaiting = true
          await this.begun
        }
        this.requireOpen()
        return await connection.executeQuery(query)
      },
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
  }

  async provideConnection<Result>(consumer: (connection: DatabaseConnection) => Promise<Result>): Promise<Result> {
    return await consumer(this.guarded)
  }

  async commit(): Promise<void> {
    this.isEnded = true
    await this.begun
    await this.connection.executeQuery(commit)
  }

  async rollback(): Promise<void> {
    this.isEnded = true
    await this.connection.executeQuery(rollback)
  }

  private requireOpen(): void {
    if (this.isEnded) throw new Error('a statement was begun after its transaction had ended')
  }
}
