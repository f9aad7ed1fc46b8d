import { CompiledQuery } from 'kysely'
import type { Db } from './database.ts'

// Made once: CompiledQuery.raw freezes its parameters, which costs as much as sending them.
const blank = CompiledQuery.raw('')

/**
 * Reads rows by a statement that is written out. For hot paths: to build it with the query builder at each call would
 * cost more than to run it.
 */
export async function selectRows<Row>(db: Db, text: string, parameters: readonly unknown[]): Promise<Row[]> {
  const { rows } = await db.executeQuery<Row>({ ...blank, sql: text, parameters } as CompiledQuery<Row>)
  return rows
}

/** Changes rows by a statement that is written out; says how many it met. For hot paths. */
export async function executeUpdate(db: Db, text: string, parameters: readonly unknown[]): Promise<number> {
  const { numAffectedRows } = await db.executeQuery({ ...blank, sql: text, parameters })
  return Number(numAffectedRows)
}

/** `?, ?, …`, one for each. */
export function placeholders(parameters: readonly unknown[]): string {
  return parameters.map(() => '?').join(', ')
}

/** Repeats the last one up to a power of two: few different statements, so that they stay prepared. */
export function padToPowerOfTwo<Item>(items: readonly Item[]): readonly Item[] {
  const length = 2 ** Math.ceil(Math.log2(items.length))
  return Array.from({ length }, (_, i) => items[Math.min(i, items.length - 1)] as Item)
}
