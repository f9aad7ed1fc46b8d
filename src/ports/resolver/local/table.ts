import { sql } from 'kysely'
import type { Db } from '../../../base/database/database.ts'

/** A record of the `local` zone, as it is stored. */
export interface LocalRecord {
  readonly name: string
  readonly type: string
  readonly value: string
  readonly priority: number | null
  readonly ttl: number
}

/** The records at a name; the name exists when there are records at it or below it (RFC 8020). */
export interface LocalNameRecords {
  readonly records: readonly LocalRecord[]
  readonly exists: boolean
}

/** The records of the `local` zone at each of these names (lower case, ASCII, no final dot), in the order of the names. */
export async function selectLocalNames(db: Db, names: readonly string[]): Promise<readonly LocalNameRecords[]> {
  const rows = await db
    .selectFrom('local_records')
    .select(['name', 'type', 'value', 'priority', 'ttl'])
    .where('name', 'in', [...new Set(names)])
    .orderBy('id')
    .execute()
  const byName = Map.groupBy(rows, row => row.name)
  const absent = [...new Set(names.filter(name => !byName.has(name)))]
  const parents = absent.length > 0 ? await selectParents(db, absent) : new Set<string>()
  return names.map(name => ({ records: byName.get(name) ?? [], exists: byName.has(name) || parents.has(name) }))
}

/** Which of these names have records below them. */
async function selectParents(db: Db, names: readonly string[]): Promise<ReadonlySet<string>> {
  const below = names.map(
    name => sql<number>`EXISTS (SELECT 1 FROM local_records WHERE name LIKE ${`%.${name.replace(/[\\%_]/g, '\\$&')}`})`,
  )
  const result = await sql<
    Record<string, number>
  >`SELECT ${sql.join(below.map((exists, i) => sql`${exists} AS ${sql.ref(`n${i}`)}`))}`.execute(db)
  const [row = {}] = result.rows
  return new Set(names.filter((_, i) => row[`n${i}`] === 1))
}
