import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'

/** A record of the `local` zone, as it is stored. */
export interface LocalRecord {
  readonly name: string
  readonly type: string
  readonly value: string
  readonly priority: number | null
  readonly ttl: number
}

/** A name of which there is a record, or below which there is one. */
export interface LocalNameRecords {
  readonly records: readonly LocalRecord[]
  readonly exists: boolean
}

/** What the `local` zone holds at each of these names (lower case, ASCII, no final dot), in their order. */
export async function selectLocalNames(db: Db, names: readonly string[]): Promise<readonly LocalNameRecords[]> {
  const rows = await db
    .selectFrom('local_records')
    .select(['name', 'type', 'value', 'priority', 'ttl'])
    .where('name', 'in', [...new Set(names)])
    .orderBy('id')
    .execute()
  const held = Map.groupBy(rows, row => row.name)
  const absent = [...new Set(names.filter(name => !held.has(name)))]
  const parents = absent.length > 0 ? await selectParents(db, absent) : new Set<string>()
  return names.map(name => ({ records: held.get(name) ?? [], exists: held.has(name) || parents.has(name) }))
}

/** Those of these names that have records below them. */
async function selectParents(db: Db, names: readonly string[]): Promise<ReadonlySet<string>> {
  const below = names.map(
    name => sql<number>`EXISTS (SELECT 1 FROM local_records WHERE name LIKE ${`%.${name.replace(/[\\%_]/g, '\\$&')}`})`,
  )
  const found = await sql<
    Record<string, number>
  >`SELECT ${sql.join(below.map((rawBuilder, i) => sql`${rawBuilder} AS ${sql.ref(`n${i}`)}`))}`.execute(db)
  const [row = {}] = found.rows
  return new Set(names.filter((_, i) => row[`n${i}`] === 1))
}
