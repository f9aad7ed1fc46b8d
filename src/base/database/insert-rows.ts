import { CompiledQuery, type Insertable } from 'kysely'
import type { Db } from './database.ts'
import type { DatabaseSchema } from './schema.ts'

// Made once: CompiledQuery.raw freezes its parameters, which costs as much as sending them.
const blank = CompiledQuery.raw('')

/**
 * Inserts rows that all give the same columns, in one statement. For hot paths: the statement's text depends only on the
 * columns and the number of rows, and is made without the query builder, which would cost more than the insert. Gives how
 * many were inserted; with `unless there`, a row whose unique values are there already is passed over.
 */
export async function insertRows<Table extends keyof DatabaseSchema>(
  db: Db,
  table: Table,
  rows: readonly Insertable<DatabaseSchema[Table]>[],
  onDuplicate: 'fail' | 'unless there' | `ON DUPLICATE KEY UPDATE ${string}` = 'fail',
): Promise<number> {
  const [first] = rows
  if (!first) return 0
  const columns = Object.keys(first) as (keyof typeof first & string)[]
  const row = `(${columns.map(() => '?').join(', ')})`
  const verb = onDuplicate === 'unless there' ? 'INSERT IGNORE' : 'INSERT'
  const suffix = onDuplicate.startsWith('ON') ? onDuplicate : ''
  const text = `${verb} INTO ${table} (${columns.join(', ')}) VALUES ${rows.map(() => row).join(', ')} ${suffix}`
  const parameters: unknown[] = []
  for (const row of rows) for (const column of columns) parameters.push(row[column])
  const { numAffectedRows } = await db.executeQuery({ ...blank, sql: text, parameters })
  return Number(numAffectedRows)
}
