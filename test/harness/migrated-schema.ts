import { type Connection, escapeId, format } from 'mysql2/promise'

/** The statements that make an empty database what another one is: its tables, and their rows. */
export type SchemaCopy = readonly string[]

/** Reads the tables of the database that the connection is in, of which few have rows. */
export async function readSchema(connection: Connection): Promise<SchemaCopy> {
  const names = (await rowsOf(connection, 'SHOW TABLES')).map(([name]) => String(name))
  const statements: string[] = []
  for (const name of names) {
    const [[, create] = []] = await rowsOf(connection, `SHOW CREATE TABLE ${escapeId(name)}`)
    statements.push(String(create))
  }
  for (const name of names) {
    const rows = await rowsOf(connection, `SELECT * FROM ${escapeId(name)}`)
    if (rows.length > 0) statements.push(format(`INSERT INTO ${escapeId(name)} VALUES ?`, [rows]))
  }
  return statements
}

/** Makes the tables in the empty database that the connection is in. It has to allow several statements at once. */
export async function writeSchema(connection: Connection, statements: SchemaCopy): Promise<void> {
  // In the order of their names, whatever refers to what.
  await connection.query(['SET foreign_key_checks = 0', ...statements].join(';\n'))
}

type Value = string | number | Buffer | null

/** Date-times and numbers as they are written, which is how they are inserted again. */
async function rowsOf(connection: Connection, sql: string): Promise<Value[][]> {
  const [rows] = await connection.query({ sql, rowsAsArray: true })
  return rows as Value[][]
}
