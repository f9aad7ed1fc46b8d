import { randomBytes } from 'node:crypto'
import { type Connection, createConnection } from 'mysql2/promise'
import { type Database, openDatabase } from '../../src/base/database/database.ts'
import { migrate } from '../../src/base/database/migrate.ts'
import { readSchema, type SchemaCopy, writeSchema } from './migrated-schema.ts'

/** The database server of the tests: started by preload.ts, or given in the environment. */
function testServerUrl(): string {
  const url = process.env['MAILROOM_TEST_DATABASE_URL']
  if (!url) throw new Error('MAILROOM_TEST_DATABASE_URL is absent; run the tests with ./mailroom test')
  return url
}

export interface FreshDatabase extends Database {
  readonly url: string
}

/** What the migrations make, once this process has run them. */
let migrated: SchemaCopy | undefined

/**
 * A migrated database, which is dropped when it is closed. The migrations run for the first one of a process; the others
 * get the same tables and rows, which takes a third of the time.
 */
export async function freshDatabase(connections = 8): Promise<FreshDatabase> {
  const database = await emptyDatabase(connections)
  const { pathname } = new URL(database.url)
  if (migrated) {
    const statements = migrated
    await onServer(database.url, connection => writeSchema(connection, statements), pathname.slice(1))
  } else {
    await migrate(database.db)
    migrated = await onServer(database.url, readSchema, pathname.slice(1))
  }
  return database
}

/** A database without tables, which is dropped when it is closed. */
export async function emptyDatabase(connections = 8): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const server = testServerUrl()
  const url = new URL(server)
  url.pathname = `/${name}`
  await onServer(server, connection => connection.query(`CREATE DATABASE ${name}`))
  const database = openDatabase(url.href, connections)
  return {
    ...database,
    url: url.href,
    close: async () => {
      await database.close()
      await onServer(server, connection => connection.query(`DROP DATABASE ${name}`))
    },
  }
}

/** Does something on a connection of its own, in this database if one is named. */
async function onServer<Result>(
  server: string,
  act: (connection: Connection) => Promise<Result>,
  database?: string,
): Promise<Result> {
  const url = new URL(server)
  const socketPath = url.searchParams.get('socketPath')
  const connection = await createConnection({
    ...(socketPath ? { socketPath } : { host: url.hostname, port: Number(url.port || 3306) }),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    ...(database !== undefined && { database }),
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    dateStrings: true,
    multipleStatements: true,
  })
  try {
    return await act(connection)
  } finally {
    await connection.end()
  }
}
