import { CompiledQuery, type Insertable } from 'kysely'
import type { Db } from './database.ts'
import type { DatabaseSchema } from './schema.ts'

// Created once: CompiledQuery.raw freezes its parameters, which costs as much as sending them.
const blank = CompiledQuery.raw('')

/**
 * Inserts rows that all have the same columns, in one statement, and gives how many were inserted. For hot paths: the SQL
 * depends only on the columns and the number of rows, and is written without the query builder, which would cost more than
 * the insert.
 * @param onDuplicate what is done with a row whose unique values are in the table already: `fail` throws, `ignore` skips it
 */
export async function insertRows<Table extends keyof DatabaseSchema>(
  db: Db,
  table: Table,
  rows: readonly Insertable<DatabaseSchema[Table]>[],
  onDuplicate: 'fail' | 'ignore' | `ON DUPLICATE KEY UPDATE ${string}` = 'fail',
): Promise<number> {
  const [first] = rows
  if (!first) return 0
  const columns = Object.keys(first) as (keyof typeof first & string)[]
  const placeholders = `(${columns.map(() => '?').join(', ')})`
  const verb = onDuplicate === 'ignore' ? 'INSERT IGNORE' : 'INSERT'
  const suffix = onDuplicate.startsWith('ON') ? onDuplicate : ''
  const text = `${verb} INTO ${table} (${columns.join(', ')}) VALUES ${rows.map(() => placeholders).join(', ')} ${suffix}`
  const parameters: unknown[] = []
  for (const row of rows) for (const column of columns) parameters.push(row[column])
  const { numAffectedRows } = await db.executeQuery({ ...blank, sql: text, parameters })
  return Number(numAffectedRows)
}
