import type { Db } from '../base/database/database.ts'
import { padToPowerOfTwo } from '../base/database/select-rows.ts'
import type { Id } from '../base/ids.ts'

/** The return-path names of those of these domains whose return-path records are all verified. */
export async function selectVerifiedReturnPaths(
  db: Db,
  domainIds: readonly Id<'dom'>[],
): Promise<ReadonlyMap<Id<'dom'>, string>> {
  if (domainIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('domain_records')
    .select(['domain_id', 'type', 'name', 'status'])
    .where('domain_id', 'in', padToPowerOfTwo(domainIds))
    .where('purpose', '=', 'return_path')
    .execute()
  const names = new Map<Id<'dom'>, string>()
  for (const [id, records] of Map.groupBy(rows, row => row.domain_id)) {
    const name = records.find(record => record.type !== 'TXT')?.name
    if (name !== undefined && records.every(record => record.status === 'verified')) names.set(id, name)
  }
  return names
}

/** Is this the return-path name of some domain, whether or not its records are verified? */
export async function isReturnPath(db: Db, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('domain_records')
    .select('id')
    .where('name', '=', name)
    .where('purpose', '=', 'return_path')
    .executeTakeFirst()
  return row !== undefined
}
