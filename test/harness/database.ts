import { randomBytes } from 'node:crypto'
import { createConnection } from 'mysql2/promise'
import { type Database, openDatabase } from '../../src/base/database/database.ts'
import { migrate } from '../../src/base/database/migrate.ts'

/** The database server of the tests: started by preload.ts, or given in the environment. */
function testServerUrl(): string {
  const url = process.env['MAILROOM_TEST_DATABASE_URL']
  if (!url) throw new Error('MAILROOM_TEST_DATABASE_URL is absent; run the tests with ./mailroom test')
  return url
}

export interface FreshDatabase extends Database {
  readonly url: string
}

/** A migrated database, which is dropped when it is closed. */
export async function freshDatabase(connections = 8): Promise<FreshDatabase> {
  const database = await emptyDatabase(connections)
  await migrate(database.db)
  return database
}

/** A database without tables, which is dropped when it is closed. */
export async function emptyDatabase(connections = 8): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const url = new URL(testServerUrl())
  url.pathname = `/${name}`
  await onServer(`CREATE DATABASE ${name}`)
  const database = openDatabase(url.href, connections)
  return {
    ...database,
    url: url.href,
    close: async () => {
      await database.close()
      await onServer(`DROP DATABASE ${name}`)
    },
  }
}

async function onServer(statement: string): Promise<void> {
  const url = new URL(testServerUrl())
  const socketPath = url.searchParams.get('socketPath')
  const connection = await createConnection({
    ...(socketPath ? { socketPath } : { host: url.hostname, port: Number(url.port || 3306) }),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  })
  try {
    await connection.query(statement)
  } finally {
    await connection.end()
  }
}
