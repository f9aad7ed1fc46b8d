import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { blockSize } from '../../inbox/search/segment.ts'

/** A block of an organization's search index; see inbox/search-block.ts. */
export interface Block {
  readonly organizationId: Id<'org'>
  readonly block: number
}

/** The blocks that these messages are in. */
export async function selectBlocks(db: Db, ids: readonly string[]): Promise<readonly Block[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('search_texts')
    .select(['organization_id', 'place'])
    .where('message_id', 'in', ids as readonly Id<'msg'>[])
    .where('place', 'is not', null)
    .execute()
  const all = rows.map(row => ({
    organizationId: row.organization_id,
    block: Math.floor((row.place ?? 0) / blockSize),
  }))
  return [...new Map(all.map(each => [`${each.organizationId} ${each.block}`, each])).values()]
}

export async function isBlockEmpty(db: Db, { organizationId, block }: Block): Promise<boolean> {
  const row = await db
    .selectFrom('search_texts')
    .select('place')
    .where('organization_id', '=', organizationId)
    .where('place', '>=', block * blockSize)
    .where('place', '<', (block + 1) * blockSize)
    .limit(sql.lit(1))
    .executeTakeFirst()
  return row === undefined
}

/** Removes at most `most` words of a block; how many that were. */
export async function deletePostings(db: Db, { organizationId, block }: Block, most: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`DELETE FROM search_postings
    WHERE organization_id = ${organizationId} AND block = ${block} LIMIT ${sql.lit(most)}`.execute(db)
  return Number(numAffectedRows)
}
