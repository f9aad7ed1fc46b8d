import { CompiledQuery } from 'kysely'
import type { Db } from './database.ts'

// Created once: CompiledQuery.raw freezes its parameters, which costs as much as sending them.
const blank = CompiledQuery.raw('')

/**
 * Selects rows by SQL text. For hot paths: building the statement with the query builder at each call would cost more than
 * running it.
 */
export async function selectRows<Row>(db: Db, text: string, parameters: readonly unknown[]): Promise<Row[]> {
  const { rows } = await db.executeQuery<Row>({ ...blank, sql: text, parameters } as CompiledQuery<Row>)
  return rows
}

/** Runs an INSERT, UPDATE or DELETE by SQL text, and gives how many rows it affected. For hot paths. */
export async function executeUpdate(db: Db, text: string, parameters: readonly unknown[]): Promise<number> {
  const { numAffectedRows } = await db.executeQuery({ ...blank, sql: text, parameters })
  return Number(numAffectedRows)
}

/** `?, ?, …`, one for each parameter. */
export function placeholders(parameters: readonly unknown[]): string {
  return parameters.map(() => '?').join(', ')
}

/** Repeats the last item until the length is a power of two: so there are few different statements, which stay prepared. */
export function padToPowerOfTwo<Item>(items: readonly Item[]): readonly Item[] {
  const length = 2 ** Math.ceil(Math.log2(items.length))
  return Array.from({ length }, (_, i) => items[Math.min(i, items.length - 1)] as Item)
}
